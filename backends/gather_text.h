// GatherText lets the processes tell each other text: names, messages, small
// serialized states.
//
//   const std::vector<std::string> names = GatherText(collectives, name);
#ifndef TRAINYARD_BACKENDS_GATHER_TEXT_H_
#define TRAINYARD_BACKENDS_GATHER_TEXT_H_

#include <string>
#include <vector>

#include "backends/collectives.h"

namespace trainyard {

// What each process gave, by rank; any bytes of any length. Collective: all
// ranks must call it.
std::vector<std::string> GatherText(
    Collectives& collectives, const std::string& mine,
    Collectives::Place place = Collectives::Place::current());

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_GATHER_TEXT_H_
