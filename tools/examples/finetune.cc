// Fine-tunes a network that Python trained on five classes of clothes to five
// other classes, from ten images of each: first a new head, then one stage
// after the other, with an average of the weights.
//
//   tools/bazel run //tools/examples:finetune
//
// tools/examples/finetune.py trains the network and evaluates the exported
// file.
#include <ATen/Context.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>

#include <cmath>
#include <optional>
#include <string>

#include "backends/make_backend.h"
#include "callbacks/weights/gradual_unfreezing.h"
#include "finetuning/ema.h"
#include "finetuning/freezer/model_freezer.h"
#include "finetuning/freezer/trainable_table.h"
#include "finetuning/warm_start/export_model.h"
#include "finetuning/warm_start/warm_start.h"
#include "tools/cli/parse_flags.h"
#include "tools/cli/run_flags.h"
#include "tools/examples/fashion_mnist_data.h"
#include "tools/examples/stage_net.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

ABSL_FLAG(std::string, data, trainyard::kFashionMnistFolder,
          "Folder of Fashion-MNIST's four IDX files, gzipped or plain.");
ABSL_FLAG(
    std::string, weights, "tools/examples/pretrained/clothes.safetensors",
    "The pretrained network, as tools/examples/finetune.py pretrain writes "
    "it. Empty: train everything from random weights, for comparison.");
ABSL_FLAG(bool, keep_head, false,
          "Keep the head and the classes of the pretrained network.");
ABSL_FLAG(int64_t, images_per_class, 10,
          "Number of training images per class.");
ABSL_FLAG(int64_t, epochs, 12,
          "Number of passes over these images. A stage is unfrozen after each "
          "quarter. 0: only evaluate and export.");
ABSL_FLAG(double, lr, 3e-3,
          "Learning rate of the head; the stages get a fifth.");
ABSL_FLAG(std::string, export, "",
          "Safetensors file for the averaged weights, with Python's names. "
          "Empty: not written.");
ABSL_FLAG(uint64_t, seed, 1, "Seed of the head and the order of images.");

namespace {

using namespace trainyard;  // NOLINT: an example, in a program of its own

constexpr int64_t kClasses = 5;

// Images of five classes, from `first` on, relabelled from 0; at most
// `per_class` of each.
Example FiveClasses(const DatasetPtr& data, int64_t first,
                    std::optional<int64_t> per_class) {
  const Example all = data->Gather(at::arange(data->size())).As<Example>();
  std::vector<at::Tensor> rows;
  for (int64_t label = first; label < first + kClasses; ++label) {
    const at::Tensor of_label = all.target.eq(label).nonzero().flatten();
    rows.push_back(per_class ? of_label.slice(0, 0, *per_class) : of_label);
  }
  const at::Tensor chosen = at::cat(rows);
  return {all.input.index_select(0, chosen),
          all.target.index_select(0, chosen).sub_(first)};
}

void Evaluate(Trainer& trainer, Ema& ema, const DatasetPtr& test) {
  const Ema::Swap averaged(ema);
  const double accuracy =
      trainer.Evaluate(test, 1000).at("evaluation_accuracy");
  absl::PrintF("%.0f of %d test images right, accuracy %.4f\n",
               std::round(accuracy * static_cast<double>(test->size())),
               test->size(), accuracy);
}

// Unfreezes one more stage after each quarter of the epochs, from the top.
std::vector<UnfreezeStep> Unfreezing(int64_t epochs, double lr) {
  std::vector<UnfreezeStep> steps;
  for (int64_t stage = 1; stage <= 3; ++stage) {
    steps.push_back({.after_epochs = epochs * stage / 4,
                     .from = -1 - stage,
                     .to = -1 - stage,
                     .overrides = {{"lr", lr / 5}}});
  }
  return steps;
}

int Run() {
  const std::string weights = absl::GetFlag(FLAGS_weights);
  const bool keep_head = absl::GetFlag(FLAGS_keep_head);
  const int64_t epochs = absl::GetFlag(FLAGS_epochs);
  const double lr = absl::GetFlag(FLAGS_lr);
  const int64_t images = absl::GetFlag(FLAGS_images_per_class);
  TORCH_CHECK_VALUE(images >= 1, "images_per_class is ", images,
                    "; it must be at least 1");
  at::manual_seed(absl::GetFlag(FLAGS_seed));
  StageNet model(kClasses);
  ModelFreezer freezer(*model,
                       {.batch_norms = BatchNorms::kFreezeWithStatistics});
  if (!weights.empty()) {
    WarmStartOptions options{.rename = StageNetFromPython()};
    if (!keep_head) options.leave = {"head"};
    const WarmStartReport report = OrThrow(WarmStart(weights, *model, options));
    absl::PrintF("%s: %s\n", weights, Describe(report));
    freezer.FreezeGroups();
  }
  const FashionMnist data =
      OrThrow(LoadFashionMnist(absl::GetFlag(FLAGS_data)));
  const int64_t first = keep_head ? 0 : kClasses;
  const DatasetPtr train = MakeTensorDataset(
      FiveClasses(data.train, first, absl::GetFlag(FLAGS_images_per_class)));
  const DatasetPtr test =
      MakeTensorDataset(FiveClasses(data.test, first, std::nullopt));

  AdamW optimizer(*model, {.lr = lr});
  Ema ema(*model, {.decay = 0.98, .warmup = EmaWarmup::kRamp});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, CrossEntropy(), {{"accuracy", Accuracy()}}),
                  optimizer, *backend);
  if (epochs > 0) {
    absl::PrintF("%s\n", TrainableTable(freezer));
    if (!weights.empty()) {
      trainer.Add(
          GradualUnfreezing(freezer, optimizer, Unfreezing(epochs, lr)));
    }
    trainer.Add(
        On<UpdateEnd>([&](const UpdateEnd&, Control&) { ema.Update(); }));
    const RunResult result =
        trainer.Train(WithRunFlags({.data = train,
                                    .eval_data = test,
                                    .length = Epochs(epochs),
                                    .per_device_batch_size = 10,
                                    .clip = ClipNorm(1.0),
                                    .eval_per_device_batch_size = 1000,
                                    .seed = absl::GetFlag(FLAGS_seed)}));
    if (result.ending != RunEnding::kFinished) return ExitCode(result.ending);
    absl::PrintF("the averaged weights: ");
  }
  Evaluate(trainer, ema, test);
  if (const std::string path = absl::GetFlag(FLAGS_export); !path.empty()) {
    OrThrow(ExportSafetensors(ema.NamedTensors(), path,
                              {.rename = StageNetToPython()}));
    absl::PrintF("exported to %s\n", path);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv,
                        "fine-tunes a network that Python trained and exports "
                        "it for Python");
  return Main(Run);
}
