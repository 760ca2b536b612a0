// MapBatch is the batch type of data whose columns have names: CSV files and
// record files.
//
//   const at::Tensor& age = batch.As<MapBatch>().at("age");
#ifndef TRAINYARD_TRAINER_DATA_MAP_BATCH_H_
#define TRAINYARD_TRAINER_DATA_MAP_BATCH_H_

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace trainyard {

using MapBatch = std::map<std::string, at::Tensor>;

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_MAP_BATCH_H_
