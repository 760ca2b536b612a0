// Sharded training gives the numbers that Python's ZeroRedundancyOptimizer and
// fully_shard give.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/sharded/fsdp.h"
#include "backends/sharded/zero.h"
#include "backends/single_process.h"
#include "backends/testing/ddp_rig.h"
#include "backends/testing/rank_group.h"
#include "backends/whole_parameters.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

constexpr double kTolerance = 1e-5;
constexpr int64_t kRecords = 32;

struct Setting {
  std::string name;
  int64_t accumulation = 1;
  Clip clip = {};
};

std::vector<Setting> Settings() {
  return {{.name = "plain"},
          {.name = "accumulated", .accumulation = 4},
          {.name = "clipped", .clip = ClipNorm(0.05)}};
}

std::vector<at::Tensor> Train(Backend& backend, const Setting& setting) {
  const TinyMlp model;
  AdamW optimizer(model.parameters(), {.lr = 0.01, .weight_decay = 0.1});
  const int64_t ranks = backend.num_processes();
  TrainRig(backend, model, optimizer,
           {.split = {ranks, kRecords / ranks / setting.accumulation,
                      setting.accumulation},
            .updates = 50,
            .clip = setting.clip});
  return model.parameters();
}

std::unique_ptr<Backend> Make(const std::string& name) {
  auto one = MakeSingleProcessBackend(at::kCPU);
  if (name == "fsdp") return MakeFsdpBackend(RankGroup(), std::move(one));
  return MakeZeroBackend(RankGroup(), std::move(one),
                         {.stage = name == "zero1" ? 1 : 2});
}

class ShardedGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ShardedGoldenTest, EqualsPython) {
  for (const Setting& setting : Settings()) {
    SCOPED_TRACE(setting.name);
    const std::unique_ptr<Backend> backend = Make(GetParam());
    const std::vector<at::Tensor> trained = Train(*backend, setting);
    const WholeParameters whole(*backend);
    for (const std::string python :
         {"ZeroRedundancyOptimizer", "fully_shard"}) {
      const std::vector<at::Tensor> expected = ReadRigParameters(
          "backends/sharded/testdata/sharded.txt",
          python + " " + std::to_string(TestWorldSize()) + " " + setting.name);
      EXPECT_LT(Difference(trained, expected), kTolerance) << python;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ShardedGoldenTest,
                         ::testing::Values("zero1", "zero2", "fsdp"),
                         [](const auto& i) { return i.param; });

}  // namespace
}  // namespace trainyard
