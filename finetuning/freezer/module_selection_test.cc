#include "finetuning/freezer/module_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "finetuning/freezer/module_tree.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

TEST(ModuleTreeTest, HeaderExample) {
  TestDropout dropout;
  TestSequential model{TestLinear(2, 2), dropout, TestLinear(2, 1)};
  const std::vector<bool> frozen = {false, false, true, false};
  std::vector<std::string> names;
  {
    const std::unique_ptr<ModuleTree> tree = NnModuleTree(*model);
    for (const ModuleTree::Node& node : tree->nodes()) {
      names.push_back(node.name);
    }
    tree->Hold(frozen);
    model->train();
    EXPECT_FALSE(dropout->is_training());
    EXPECT_TRUE(model->is_training());
    tree->Hold({false, false, false, false});
    EXPECT_TRUE(dropout->is_training());
  }
  EXPECT_THAT(names, ElementsAre("", "0", "1", "2"));
}

TEST(ModuleSelectionTest, HeaderExample) {
  TestSequential model{TestLinear(2, 2), TestBatchNorm1d(2), TestLinear(2, 1)};
  const std::unique_ptr<ModuleTree> tree = NnModuleTree(*model);
  const ModuleSelection selection(*tree, /*leave_batch_norms=*/true);
  const std::vector<NamedTensor> parameters =
      selection.ParametersOf(selection.InGroups(0, -2));
  std::vector<std::string> names;
  for (const NamedTensor& item : parameters) names.push_back(item.name);
  EXPECT_THAT(names, ElementsAre("0.weight", "0.bias"));
}

}  // namespace
}  // namespace trainyard
