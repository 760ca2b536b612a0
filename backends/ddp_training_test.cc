// Data-parallel training gives the numbers that one process gives, and those
// that Python's DistributedDataParallel gives.
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/ddp.h"
#include "backends/single_process.h"
#include "backends/testing/ddp_rig.h"
#include "backends/testing/rank_group.h"
#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

constexpr double kTolerance = 1e-6;

std::vector<at::Tensor> TrainAlone(const Split& split) {
  const TinyMlp model;
  TrainRig(*MakeSingleProcessBackend(at::kCPU), model, split);
  return model.parameters();
}

std::vector<at::Tensor> TrainTogether(int64_t micro_batch,
                                      int64_t accumulation) {
  const TinyMlp model;
  const auto backend =
      MakeDdpBackend(RankGroup(), MakeSingleProcessBackend(at::kCPU));
  TrainRig(*backend, model,
           {backend->num_processes(), micro_batch, accumulation});
  // To the bit.
  for (const at::Tensor& parameter : model.parameters()) {
    for (const at::Tensor& other : backend->collectives().AllGather(parameter))
      EXPECT_TRUE(at::equal(other, parameter));
  }
  return model.parameters();
}

void CompareWithOneProcessAndPython(int64_t ranks) {
  const std::vector<at::Tensor> together = TrainTogether(32 / ranks, 1);
  EXPECT_LT(Difference(together, TrainAlone({1, 32, 1})), kTolerance);
  EXPECT_LT(
      Difference(together, ReadRigParameters("backends/testdata/ddp.txt",
                                             "ranks " + std::to_string(ranks))),
      kTolerance);
  // Training did something.
  EXPECT_GT(Difference(together, TinyMlp().parameters()), 0.1);
}

TEST(DdpTrainingTest, EqualsOneProcessAndPython) {
  CompareWithOneProcessAndPython(TestWorldSize());
}

TEST(DdpTrainingTest, AccumulatingInOneProcessEqualsOneBatch) {
  EXPECT_LT(Difference(TrainAlone({1, 8, 4}), TrainAlone({1, 32, 1})),
            kTolerance);
}

TEST(DdpTrainingTest, AccumulatingRanksEqualOneProcess) {
  EXPECT_LT(
      Difference(TrainTogether(8 / TestWorldSize(), 4), TrainAlone({1, 32, 1})),
      kTolerance);
}

}  // namespace
}  // namespace trainyard
