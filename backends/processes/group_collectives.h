// MakeGroupCollectives gives the collectives of a ProcessGroup.
//
//   ProcessGroup group({.rendezvous = rendezvous});
//   const auto collectives = MakeGroupCollectives(group);
//
// Before each call the ranks compare their calls: see CallCheck.
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
