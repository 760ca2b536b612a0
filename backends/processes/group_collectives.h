// The collectives of a ProcessGroup.
//
//   ProcessGroup group({.rendezvous = RendezvousFromEnvironment()});
//   const auto collectives = MakeGroupCollectives(group);
//
// What each rank is about to do is compared first, in one small exchange: gloo
// itself ends the whole program when sizes differ.
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_GROUP_COLLECTIVES_H_
#define TRAINYARD_BACKENDS_PROCESSES_GROUP_COLLECTIVES_H_

#include <memory>

#include "backends/collectives.h"
#include "backends/processes/process_group.h"

namespace trainyard {

// Borrows the group.
std::unique_ptr<Collectives> MakeGroupCollectives(ProcessGroup& group);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_GROUP_COLLECTIVES_H_
