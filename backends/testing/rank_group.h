// RankGroup is the group of a test that SpawnRanks made a rank, made once: its
// port can be listened on only once.
//
//   if (SpawnRanks(2)) return;
//   const auto collectives = MakeGroupCollectives(*RankGroup());
#ifndef TRAINYARD_BACKENDS_TESTING_RANK_GROUP_H_
#define TRAINYARD_BACKENDS_TESTING_RANK_GROUP_H_

#include <memory>

#include "backends/processes/process_group.h"

namespace trainyard {

const std::shared_ptr<ProcessGroup>& RankGroup();

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_TESTING_RANK_GROUP_H_
