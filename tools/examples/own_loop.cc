// A training loop without the trainer, from single libraries: a loader, a fused
// optimizer with clipping, a schedule and an average of the weights.
//
//   tools/bazel run //tools/examples:own_loop
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>

#include "finetuning/ema.h"
#include "schedulers/cosine.h"
#include "tools/cli/parse_flags.h"
#include "tools/examples/conv_net.h"
#include "tools/examples/fashion_mnist_data.h"
#include "trainer/data/loader.h"
#include "trainer/data/sampler.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/scheduled_field.h"
#include "trainer/or_throw.h"

ABSL_FLAG(std::string, data, trainyard::kFashionMnistFolder,
          "Folder of the four IDX files, gzipped or plain.");
ABSL_FLAG(int64_t, updates, 400, "Number of updates.");

namespace {

using namespace trainyard;  // NOLINT: an example, in a program of its own

double AccuracyOf(ConvNet& model, const DatasetPtr& data) {
  const at::NoGradGuard no_gradients;
  model->eval();
  Loader loader(data, std::make_shared<SequentialSampler>(data->size()),
                {.batch_size = 1000});
  loader.StartEpoch(0);
  double right = 0;
  while (const std::optional<AnyBatch> batch = loader.Next()) {
    const Example& example = batch->As<Example>();
    const at::Tensor outputs = model->forward(example.input);
    right += Accuracy()(outputs, example.target).item<double>() *
             static_cast<double>(batch->size());
  }
  model->train();
  return right / static_cast<double>(data->size());
}

int Run() {
  const int64_t updates = absl::GetFlag(FLAGS_updates);
  const FashionMnist data =
      OrThrow(LoadFashionMnist(absl::GetFlag(FLAGS_data)));
  at::manual_seed(1);
  ConvNet model;
  AdamW optimizer(*model, {.lr = 3e-3});
  ScheduledField lr(optimizer, "lr", Cosine(), {.total_updates = updates});
  Ema ema(*model, {.decay = 0.99, .warmup = EmaWarmup::kRamp});
  const auto loss_function = CrossEntropy();
  Loader loader(data.train,
                std::make_shared<ShuffledSampler>(data.train->size(), 1),
                {.batch_size = 128});

  int64_t update = 0;
  for (int64_t epoch = 0; update < updates; ++epoch) {
    loader.StartEpoch(epoch);
    while (update < updates) {
      const std::optional<AnyBatch> batch = loader.Next();
      if (!batch) break;
      const Example& example = batch->As<Example>();
      const at::Tensor loss =
          loss_function(model->forward(example.input), example.target);
      loss.backward();
      ClipGradients(optimizer.Gradients(), ClipNorm(1.0));
      lr.Apply(update++);
      optimizer.step();
      optimizer.ZeroGrad();
      ema.Update();
      if (update % 50 == 0) {
        absl::PrintF("update %4d  loss %.4f  lr %.2e\n", update,
                     loss.item<double>(), optimizer.Field(0, "lr"));
      }
    }
  }
  absl::PrintF("accuracy %.4f\n", AccuracyOf(model, data.test));
  const Ema::Swap averaged(ema);
  absl::PrintF("accuracy of the averaged weights %.4f\n",
               AccuracyOf(model, data.test));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv,
                        "trains on Fashion-MNIST without the trainer");
  return Main(Run);
}
