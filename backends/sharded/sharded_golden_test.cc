// Sharded training gives the numbers that Python's ZeroRedundancyOptimizer and
// fully_shard give.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/sharded/zero.h"
#include "backends/single_process.h"
#include "backends/testing/ddp_rig.h"
#include "backends/testing/rank_group.h"
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

TEST(ShardedGoldenTest, EqualsPython) {
  for (const Setting& setting : Settings()) {
    for (const int stage : {1, 2}) {
      SCOPED_TRACE(setting.name + ", stage " + std::to_string(stage));
      const std::unique_ptr<Backend> backend = MakeZeroBackend(
          RankGroup(), MakeSingleProcessBackend(at::kCPU), {.stage = stage});
      const std::vector<at::Tensor> trained = Train(*backend, setting);
      for (const std::string python :
           {"ZeroRedundancyOptimizer", "fully_shard"}) {
        const std::vector<at::Tensor> expected =
            ReadRigParameters("backends/sharded/testdata/sharded.txt",
                              python + " " + std::to_string(TestWorldSize()) +
                                  " " + setting.name);
        EXPECT_LT(Difference(trained, expected), kTolerance) << python;
      }
    }
  }
}

}  // namespace
}  // namespace trainyard
