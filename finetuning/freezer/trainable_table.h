// TrainableTable prints which layers of a model are trained, one row per layer:
//
//   std::cout << TrainableTable(freezer);
//
//   group  layer  type     parameters  trainable  mode
//   0      0      Conv2d        1,792          0  eval
//   1      1      Linear        5,130      5,130  train
//   total                       6,922      5,130  74.1 %
//
// Thread-safe.
#ifndef TRAINYARD_FINETUNING_FREEZER_TRAINABLE_TABLE_H_
#define TRAINYARD_FINETUNING_FREEZER_TRAINABLE_TABLE_H_

#include <string>

#include "finetuning/freezer/model_freezer.h"

namespace trainyard {

std::string TrainableTable(const ModelFreezer& freezer);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_FREEZER_TRAINABLE_TABLE_H_
