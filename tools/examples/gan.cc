// Two models with one optimizer each, updated in turn by one task: a generator
// learns to place points on a circle, and a discriminator learns to tell them
// from real ones.
//
//   tools/bazel run //tools/examples:gan -- --run_dir=/tmp/gan
#include <ATen/Context.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "backends/make_backend.h"
#include "tools/cli/parse_flags.h"
#include "tools/cli/run_flags.h"
#include "tools/examples/run_report.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/clip.h"
#include "trainer/trainer.h"

ABSL_FLAG(int64_t, epochs, 20, "Number of passes over the 8,192 points.");
ABSL_FLAG(uint64_t, seed, 1, "Seed of weights, noise and order.");
ABSL_FLAG(std::string, run_dir, "",
          "Folder for checkpoints and summary.json; it is created if needed. A "
          "run that was interrupted resumes from there.");

namespace {

using namespace trainyard;  // NOLINT: an example, in a program of its own

constexpr int64_t kNoise = 8, kHidden = 64, kPoints = 8192;

struct PointBatch {
  at::Tensor points;
  auto tensors() { return std::tie(points); }
};

torch::nn::Sequential Mlp(int64_t in, int64_t out) {
  return torch::nn::Sequential(
      torch::nn::Linear(in, kHidden), torch::nn::ReLU(),
      torch::nn::Linear(kHidden, kHidden), torch::nn::ReLU(),
      torch::nn::Linear(kHidden, out));
}

// The loss of classifying all points as real, or all as generated.
at::Tensor LossIf(bool real, const at::Tensor& logits) {
  return at::binary_cross_entropy_with_logits(
      logits, at::full(logits.sizes(), real ? 1.0 : 0.0, logits.options()));
}

class GanTask final : public TaskOf<PointBatch> {
 public:
  GanTask() {
    AddModel("generator", generator_.ptr());
    AddModel("discriminator", discriminator_.ptr());
    AddOptimizer("generator_adamw", g_optimizer_);
    AddOptimizer("discriminator_adamw", d_optimizer_);
  }

  StepOutput TrainStep(const PointBatch& batch, StepContext& step) override {
    const at::Tensor made = Make(batch.points.size(0), batch.points);
    const at::Tensor d_loss =
        LossIf(true, discriminator_->forward(batch.points)) +
        LossIf(false, discriminator_->forward(made.detach()));
    step.Backward(d_loss);
    step.Update(d_optimizer_, ClipNorm(1.0));
    const at::Tensor g_loss = LossIf(true, discriminator_->forward(made));
    step.Backward(g_loss);
    step.Update(g_optimizer_, ClipNorm(1.0));
    d_optimizer_.ZeroGrad();  // the generator's loss has gradients there, too
    return {.loss = g_loss, .metrics = {{"d_loss", d_loss}}};
  }

  // The mean distance of generated points from the circle.
  StepOutput EvalStep(const PointBatch& batch, StepContext&) override {
    const at::Tensor radius =
        Make(batch.points.size(0), batch.points).norm(2, 1);
    return {.metrics = {{"distance", radius.sub(1).abs().mean()}}};
  }

  const Optimizer& generator_optimizer() const { return g_optimizer_; }

 private:
  at::Tensor Make(int64_t count, const at::Tensor& like) {
    return generator_->forward(at::randn({count, kNoise}, like.options()));
  }

  torch::nn::Sequential generator_ = Mlp(kNoise, 2);
  torch::nn::Sequential discriminator_ = Mlp(2, 1);
  AdamW g_optimizer_{*generator_, {.lr = 1e-3, .beta1 = 0.5}};
  AdamW d_optimizer_{*discriminator_, {.lr = 1e-3, .beta1 = 0.5}};
};

int Run() {
  at::manual_seed(absl::GetFlag(FLAGS_seed));
  const at::Tensor angle = at::rand({kPoints}).mul(2 * M_PI);
  const DatasetPtr circle =
      MakeTensorDataset(PointBatch{at::stack({angle.cos(), angle.sin()}, 1)});
  auto task = std::make_unique<GanTask>();
  const Optimizer& optimizer = task->generator_optimizer();
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::move(task), *backend);
  const std::string run_dir = absl::GetFlag(FLAGS_run_dir);
  const RunReport report({.run_dir = run_dir});
  const RunResult result =
      trainer.Train(WithRunFlags({.data = circle,
                                  .eval_data = circle,
                                  .length = Epochs(absl::GetFlag(FLAGS_epochs)),
                                  .per_device_batch_size = 128,
                                  .eval_per_device_batch_size = kPoints,
                                  .checkpoint = {.directory = run_dir},
                                  .resume = Resume::kIfPresent,
                                  .seed = absl::GetFlag(FLAGS_seed)}));
  const auto distances = trainer.history().Values("eval_distance");
  absl::PrintF(
      "mean distance from the circle: %.3f after the first epoch, %.3f after "
      "the last\n",
      distances.front(), distances.back());
  report.Finish(trainer, optimizer, result);
  return ExitCode(result.ending);
}

}  // namespace

int main(int argc, char** argv) {
  trainyard::ParseFlags(
      argc, argv, "trains a generator and a discriminator against each other");
  return Main(Run);
}
