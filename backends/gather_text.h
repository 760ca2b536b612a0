// GatherText exchanges text between the ranks: names, messages, small
// serialized states.
//
//   const std::vector<std::string> names = GatherText(collectives, name);
#ifndef TRAINYARD_BACKENDS_GATHER_TEXT_H_
#define TRAINYARD_BACKENDS_GATHER_TEXT_H_

#include <string>
#include <vector>

#include "backends/collectives.h"

namespace trainyard {

// Returns the texts of all ranks in rank order. They may contain any bytes and
// have different lengths. Collective.
std::vector<std::string> GatherText(
    Collectives& collectives, const std::string& text,
    Collectives::Place place = Collectives::Place::current());

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_GATHER_TEXT_H_
