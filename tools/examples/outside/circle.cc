// Trains a network with the trainer, from another workspace: it learns which
// points of a square lie in a circle. Run it from this folder:
//
//   ../../bazel run //:circle
#include <ATen/Context.h>
#include <ATen/ops/rand.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <cstdlib>

#include "backends/make_backend.h"
#include "callbacks/printing/epoch_table.h"
#include "trainer/data/batch.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

using namespace trainyard;  // NOLINT: an example, in a program of its own

namespace {

Example RandomPoints(int64_t count) {
  const at::Tensor points = at::rand({count, 2}).mul_(2).sub_(1);
  return {points, points.square().sum(1).lt(0.6).to(at::kLong)};
}

}  // namespace

int main() {
  return Main([] {
    at::manual_seed(1);
    const Example train = RandomPoints(4096), test = RandomPoints(1024);
    torch::nn::Sequential model(torch::nn::Linear(2, 32), torch::nn::ReLU(),
                                torch::nn::Linear(32, 2));
    AdamW optimizer(*model, {.lr = 1e-2});
    const auto backend = MakeBackend("sp");
    Trainer trainer(
        Supervised(model, CrossEntropy(), {{"accuracy", Accuracy()}}),
        optimizer, *backend);
    trainer.Add(EpochTable());
    trainer.Train({.data = MakeTensorDataset(train),
                   .eval_data = MakeTensorDataset(test),
                   .length = Epochs(5),
                   .per_device_batch_size = 64});
    const at::Tensor right =
        model->forward(test.input).argmax(1).eq(test.target);
    return right.sum().item<int64_t>() > 960 ? EXIT_SUCCESS : EXIT_FAILURE;
  });
}
