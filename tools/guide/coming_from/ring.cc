#include "tools/guide/coming_from/ring.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/stack.h>
#include <absl/strings/str_format.h>
#include <c10/core/GradMode.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/linear.h>

#include <memory>

#include "trainer/data/batch.h"
#include "trainer/data/sampler.h"
#include "trainer/data/tensor_dataset.h"

namespace trainyard {
namespace {

constexpr int64_t kTrain = 4096, kEval = 1024;

Example RingPoints(int64_t count, int64_t first) {
  const at::Tensor i = at::arange(first, first + count, at::kDouble);
  const at::Tensor angle = i * 2.4, radius = (i * 0.6180339887).remainder(1);
  const at::Tensor points =
      at::stack({angle.cos() * radius, angle.sin() * radius}, 1);
  return {points.to(at::kFloat),
          radius.gt(0.4).logical_and(radius.lt(0.8)).to(at::kLong)};
}

double LossOf(torch::nn::SequentialImpl& net, const Example& examples) {
  return at::cross_entropy_loss(net.forward(examples.input), examples.target)
      .item<double>();
}

}  // namespace

DatasetPtr RingTrainData() { return MakeTensorDataset(RingPoints(kTrain, 0)); }

DatasetPtr RingEvalData() {
  return MakeTensorDataset(RingPoints(kEval, kTrain));
}

LoadOptions InRingOrder() {
  return {.sampler = std::make_shared<SequentialSampler>(kTrain)};
}

torch::nn::Sequential MakeRingNet() {
  const c10::NoGradGuard no_grad;
  torch::nn::Sequential net(torch::nn::Linear(2, 32), torch::nn::ReLU(),
                            torch::nn::Linear(32, 2));
  for (const at::Tensor& parameter : net->parameters()) {
    const at::Tensor i = at::arange(parameter.numel(), at::kDouble);
    parameter.copy_((i * 1.7 + 0.3).sin().mul(0.7).reshape(parameter.sizes()));
  }
  return net;
}

void ReportRing(torch::nn::SequentialImpl& net) {
  const c10::NoGradGuard no_grad;
  net.eval();
  absl::PrintF("final train_loss=%.8f eval_loss=%.8f\n",
               LossOf(net, RingPoints(kTrain, 0)),
               LossOf(net, RingPoints(kEval, kTrain)));
}

}  // namespace trainyard
