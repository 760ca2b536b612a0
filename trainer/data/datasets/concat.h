// Concat joins datasets of one batch type: first all samples of the first, then
// all of the second, and so on. Joined datasets may be joined again.
//
//   const DatasetPtr all = Concat({train_clean, train_other});
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_DATA_DATASETS_CONCAT_H_
#define TRAINYARD_TRAINER_DATA_DATASETS_CONCAT_H_

#include <vector>

#include "trainer/data/dataset.h"

namespace trainyard {

// REQUIRES: at least one dataset, none of them null.
DatasetPtr Concat(std::vector<DatasetPtr> parts);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_CONCAT_H_
