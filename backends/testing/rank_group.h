// RankGroup returns the process group of a test that runs as several ranks, by
// distributed_test. It is made at the first call, once per process: the port of
// the launcher can be listened on only once.
//
//   const auto collectives = MakeGroupCollectives(*RankGroup());
//
// Collective at the first call. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_TESTING_RANK_GROUP_H_
#define TRAINYARD_BACKENDS_TESTING_RANK_GROUP_H_

#include <memory>

#include "backends/processes/process_group.h"

namespace trainyard {

// A group on TestDevice().
const std::shared_ptr<ProcessGroup>& RankGroup();

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_TESTING_RANK_GROUP_H_
