// UpgradeFormat1 gives a checkpoint of the first release the parts that a run
// has today. FORMAT.md of trainer/checkpoint lists both.
//
//   UpgradeFormat1(restored.checkpoint);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_LOOP_FORMAT1_H_
#define TRAINYARD_TRAINER_LOOP_FORMAT1_H_

#include "trainer/checkpoint/checkpoint.h"

namespace trainyard {

// Changes nothing in a checkpoint that has the parts of today. Throws
// std::invalid_argument if a part of the first release is malformed.
void UpgradeFormat1(Checkpoint& checkpoint);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_FORMAT1_H_
