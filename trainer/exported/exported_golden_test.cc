// Exported models compute what they compute in Python: outputs, gradients, and
// the state after 20 updates. See tools/golden/exported_models.py, which also
// reads what this leaves.
#include <gtest/gtest.h>

#include <string>

#include "trainer/exported/golden_differences.h"

namespace trainyard {
namespace {

class ExportedGoldenTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ExportedGoldenTest, ComputesAsPythonDoes) {
  const std::string path =
      std::string("trainer/exported/testdata/") + GetParam();
  const GoldenDifferences differences =
      CompareWithGolden(path + ".safetensors", path + "_golden.safetensors",
                        ::testing::TempDir() + "/" + GetParam());
  EXPECT_LT(differences.eval, 1e-5);
  EXPECT_LT(differences.train, 1e-5);
  EXPECT_LT(differences.gradients, 1e-5);
  EXPECT_GE(differences.num_gradients, 4);
  EXPECT_LT(differences.buffers, 1e-6);
  EXPECT_LT(differences.updates, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Models, ExportedGoldenTest,
                         ::testing::Values("mlp", "conv", "transformer"));

}  // namespace
}  // namespace trainyard
