// An exported model trained by several processes, interpreted and compiled: the
// run of one process with all the data.
#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <vector>

#include "backends/make_backend.h"
#include "backends/single_process.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/exported/compiled_task.h"
#include "trainer/exported/exported_model.h"
#include "trainer/exported/testing/test_runs.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

std::vector<NamedTensor> Train(Backend& backend, bool compiled) {
  at::manual_seed(4);
  const at::Tensor x = at::randn({32, 12});
  const DatasetPtr data =
      MakeTensorDataset(Example{x, x.narrow(1, 0, 5).tanh()});
  const auto model = LoadTestModel("mlp");
  AdamW optimizer(*model, {.lr = 0.01});
  Trainer trainer(compiled
                      ? CompiledSupervised(model, LoadTestStep("mlp", model),
                                           MeanSquaredError())
                      : Supervised(model, MeanSquaredError()),
                  optimizer, backend);
  trainer.Train({.data = data,
                 .length = Epochs(5),
                 .per_device_batch_size = 8 / backend.num_processes(),
                 .seed = 3});
  return model->Parameters();
}

void ExpectTheRunOfOneProcess(bool compiled) {
  const std::vector<NamedTensor> one =
      Train(*MakeSingleProcessBackend(at::kCPU), /*compiled=*/false);
  // A process joins its group once.
  static const auto ddp = MakeBackend("ddp", {.device = at::kCPU});
  ASSERT_EQ(ddp->num_processes(), 2);
  const std::vector<NamedTensor> all = Train(*ddp, compiled);
  ASSERT_EQ(all.size(), one.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(at::allclose(all[i].tensor, one[i].tensor, 1e-4, 1e-5))
        << all[i].name;
    for (const at::Tensor& other :
         ddp->collectives().AllGather(all[i].tensor.detach())) {
      EXPECT_TRUE(at::equal(all[i].tensor, other)) << all[i].name;
    }
  }
  const auto untrained = LoadTestModel("mlp");
  EXPECT_FALSE(
      at::allclose(all[1].tensor, untrained->Parameters()[1].tensor, 1e-2));
}

TEST(ExportedDdpTest, IsTheRunOfOneProcess) {
  ExpectTheRunOfOneProcess(/*compiled=*/false);
}

// The gradients that the library returns go through the same buckets.
TEST(ExportedDdpTest, CompiledIsTheRunOfOneProcess) {
  if (const std::string why = WhyNoTestSteps(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  ExpectTheRunOfOneProcess(/*compiled=*/true);
}

}  // namespace
}  // namespace trainyard
