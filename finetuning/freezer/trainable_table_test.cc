#include "finetuning/freezer/trainable_table.h"

#include <gtest/gtest.h>

#include <iostream>

#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

TEST(TrainableTableTest, HasOneLinePerLayerAndTheirSum) {
  TestSequential model{TestLinear(99, 100), TestDropout(), TestLinear(100, 10)};
  ModelFreezer freezer(*model, {.eval_frozen = true});
  freezer.FreezeGroups();
  std::cout << TrainableTable(freezer);
  EXPECT_EQ(TrainableTable(freezer),
            "group  layer  type     parameters  trainable  mode\n"
            "0      0      Linear       10,000          0  eval\n"
            "1      1      Dropout           0          0  eval\n"
            "2      2      Linear        1,010      1,010  train\n"
            "total                      11,010      1,010  9.2 %\n");
}

}  // namespace
}  // namespace trainyard
