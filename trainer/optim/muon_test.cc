#include "trainer/optim/muon.h"

#include <ATen/ops/ones.h>

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(MuonTest, SameAsPython) {
  ExpectSameAsPython<Muon>("muon", "plain",
                           MuonOptions{.lr = 0.02,
                                       .weight_decay = 0.05,
                                       .nesterov = false,
                                       .bfloat16 = false});
}

TEST(MuonTest, SameAsPythonWithNesterov) {
  ExpectSameAsPython<Muon>(
      "muon", "nesterov",
      MuonOptions{.lr = 0.02, .weight_decay = 0.05, .bfloat16 = false});
}

TEST(MuonTest, SameAsPythonMatchingAdamW) {
  ExpectSameAsPython<Muon>(
      "muon", "rms",
      MuonOptions{.lr = 0.02,
                  .weight_decay = 0.05,
                  .momentum = 0.8,
                  .scale = MuonOptions::Scale::kMatchRmsAdamW,
                  .ns_steps = 3,
                  .bfloat16 = false});
}

TEST(MuonTest, KeepsTheContract) {
  ExpectContract<Muon>(MuonOptions{.bfloat16 = false});
}

TEST(MuonTest, RejectsBadOptionsByName) {
  ExpectRefused<Muon>(MuonOptions{.lr = -1}, "Muon: lr is -1");
  ExpectRefused<Muon>(MuonOptions{.weight_decay = -1},
                      "Muon: weight_decay is -1");
  ExpectRefused<Muon>(
      MuonOptions{.momentum = 1},
      "Muon: momentum is 1; it must be at least 0 and less than 1");
  ExpectRefused<Muon>(MuonOptions{.eps = 0},
                      "Muon: eps is 0; it must be a number above 0");
  ExpectRefused<Muon>(MuonOptions{.ns_steps = 0},
                      "Muon: ns_steps is 0; it must be from 1 to 99");
  ExpectRefused<Muon>(MuonOptions{.ns_steps = 100}, "Muon: ns_steps is 100");
}

// Processors round products in bfloat16 differently.
TEST(MuonTest, CloseToPythonInBfloat16) {
  ExpectSameAsPython<Muon>("muon", "bfloat16",
                           MuonOptions{.lr = 0.02, .weight_decay = 0.05},
                           {.float64 = 0.02, .float32 = 0.02});
}

TEST(MuonTest, RejectsParametersThatAreNotMatrices) {
  const at::Tensor bias = at::ones({3}).requires_grad_();
  try {
    const Muon optimizer({{.params = {{"fc.bias", bias}}}});
    FAIL() << "accepted a vector";
  } catch (const c10::ValueError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(
                                  "Muon: parameter \"fc.bias\" has shape [3]"));
  }
}

}  // namespace
}  // namespace trainyard
