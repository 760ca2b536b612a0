#include "trainer/optim/lbfgs.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include "tools/testing/error_of.h"
#include "trainer/optim/testing/golden_file.h"
#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using Search = LBFGSOptions::Search;

// Rosenbrock's function over neighbouring elements: far from quadratic.
class Valley {
 public:
  at::Tensor Loss() {
    const at::Tensor x = point.slice(0, 0, 5), next = point.slice(0, 1, 6);
    const at::Tensor rise = next.sub(x.square());
    return rise.square().mul(10).add(x.sub(1).square()).sum();
  }
  torch::optim::Optimizer::LossClosure Closure() {
    return [this] {
      point.mutable_grad().reset();
      at::Tensor loss = Loss();
      loss.backward();
      return loss;
    };
  }
  at::Tensor point = at::tensor({-1.2, 1.0, 0.5, -0.5, 0.25, 0.75}, at::kDouble)
                         .requires_grad_();
};

void ExpectSameAsPython(const std::string& name, const LBFGSOptions& options) {
  for (const OptimizerGoldenCase& golden :
       ReadGoldenFile("trainer/optim/testdata/lbfgs.txt")) {
    if (golden.name != name) continue;
    Valley valley;
    LBFGS optimizer({valley.point}, options);
    for (int update = 1; update <= golden.checkpoints.rbegin()->first;
         ++update) {
      optimizer.step(valley.Closure());
      const auto checkpoint = golden.checkpoints.find(update);
      if (checkpoint == golden.checkpoints.end()) continue;
      const at::Tensor expected =
          at::tensor(checkpoint->second.at("x"), at::kDouble);
      EXPECT_TRUE(at::allclose(valley.point, expected, 1e-6, 0))
          << update << ": " << valley.point << expected;
    }
    return;
  }
  FAIL() << "there is no case " << name;
}

TEST(LBFGSTest, SameAsPython) {
  ExpectSameAsPython("plain", {.lr = 0.02, .max_iter = 4, .history_size = 5});
}

TEST(LBFGSTest, SameAsPythonWithLineSearch) {
  ExpectSameAsPython("wolfe",
                     {.max_iter = 4, .line_search = Search::kStrongWolfe});
}

TEST(LBFGSTest, LoadedStateContinuesBitForBit) {
  const LBFGSOptions options = {.max_iter = 3,
                                .line_search = Search::kStrongWolfe};
  Valley valley, other;
  LBFGS optimizer({valley.point}, options), resumed({other.point}, options);
  EXPECT_TRUE(optimizer.NamedTensors().empty());
  for (int update = 0; update < 3; ++update) optimizer.step(valley.Closure());
  resumed.LoadTensors(optimizer.NamedTensors());
  {
    const at::NoGradGuard no_gradients;
    other.point.copy_(valley.point);
  }
  for (int update = 0; update < 3; ++update) {
    optimizer.step(valley.Closure());
    resumed.step(other.Closure());
  }
  EXPECT_TRUE(at::equal(valley.point, other.point));
}

TEST(LBFGSTest, RejectsAStateThatDoesNotFit) {
  Valley valley;
  LBFGS optimizer({valley.point});
  optimizer.step(valley.Closure());
  std::vector<NamedTensor> state = optimizer.NamedTensors();
  LBFGS small({at::ones({2}).requires_grad_()});
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] { small.LoadTensors(state); }),
              HasSubstr("lbfgs/d: saved as [6], wanted as [2]"));
  EXPECT_TRUE(small.NamedTensors().empty());
  state.erase(state.begin());
  state.push_back({"w/step", at::ones({})});
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] { optimizer.LoadTensors(state); }),
              HasSubstr("LBFGS: the saved tensors do not fit:\n"
                        "1 missing:\n  lbfgs/H_diag\n"
                        "1 unexpected:\n  w/step"));
}

TEST(LBFGSTest, NeedsAClosure) {
  Valley valley;
  LBFGS optimizer({valley.point});
  EXPECT_THROW(optimizer.step(), c10::ValueError);
  EXPECT_THROW(optimizer.StepDivided(at::ones({})), c10::ValueError);
}

TEST(LBFGSTest, RejectsBadOptionsByName) {
  ExpectRefused<LBFGS>(LBFGSOptions{.lr = -1}, "LBFGS: lr is -1");
  ExpectRefused<LBFGS>(LBFGSOptions{.max_iter = 0},
                       "LBFGS: max_iter is 0; it must be at least 1");
  ExpectRefused<LBFGS>(LBFGSOptions{.max_eval = 0}, "LBFGS: max_eval is 0");
  ExpectRefused<LBFGS>(LBFGSOptions{.tolerance_grad = -1},
                       "LBFGS: tolerance_grad is -1");
  ExpectRefused<LBFGS>(LBFGSOptions{.tolerance_change = -1},
                       "LBFGS: tolerance_change is -1");
  ExpectRefused<LBFGS>(LBFGSOptions{.history_size = 0},
                       "LBFGS: history_size is 0");
  EXPECT_THROW(LBFGS({{.params = {{"a", TestParameter()}}},
                      {.params = {{"b", TestParameter()}}}}),
               c10::ValueError);
}

}  // namespace
}  // namespace trainyard
