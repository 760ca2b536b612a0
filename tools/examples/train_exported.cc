// Trains a model that was written in Python, and exported by
// tools/convert/export_model.py, on Fashion-MNIST:
//
//   tools/bazel run //tools/examples:train_exported -- --epochs=2
//   tools/bazel run //tools/examples:train_exported -- --model=/tmp/mine
//
// tools/examples/exported_net.py is the model that it has by default.
#include <ATen/Context.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backends/make_backend.h"
#include "backends/whole_parameters.h"
#include "finetuning/warm_start/export_model.h"
#include "schedulers/cosine.h"
#include "tools/cli/parse_flags.h"
#include "tools/cli/run_flags.h"
#include "tools/examples/fashion_mnist_data.h"
#include "tools/examples/run_report.h"
#include "trainer/exported/compiled_task.h"
#include "trainer/exported/exported_model.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

ABSL_FLAG(std::string, model,
          "tools/examples/pretrained/exported_net.safetensors",
          "The model file, as tools/convert/export_model.py writes it. The "
          "model takes images (N x 1 x 28 x 28, any N) and returns ten scores "
          "each.");
ABSL_FLAG(std::string, compiled, "",
          "The compiled step of the model, as export_model.py --compile writes "
          "it. Batches of another size than it was compiled for are "
          "interpreted. Empty: all are.");
ABSL_FLAG(std::string, data, trainyard::kFashionMnistFolder,
          "Folder of Fashion-MNIST's four IDX files, gzipped or plain.");
ABSL_FLAG(int64_t, epochs, 2, "Passes over the training images.");
ABSL_FLAG(int64_t, batch_size, 128, "Images per batch.");
ABSL_FLAG(double, lr, 3e-3, "Highest learning rate; lowered along a cosine.");
ABSL_FLAG(
    std::string, backend, "sp",
    "How a step runs: sp (one process), sp-amp (in low precision); as one "
    "of several processes that //tools/launch starts: ddp, zero1, zero2 "
    "or fsdp, each also with -amp.");
ABSL_FLAG(uint64_t, seed, 1, "Decides dropout and the order of images.");
ABSL_FLAG(std::optional<int64_t>, max_updates, std::nullopt,
          "Maximum number of updates. Unset: no limit.");
ABSL_FLAG(std::string, run_dir, "",
          "Folder, made if need be, for checkpoints and summary.json; a run "
          "that was ended is resumed from there. Empty: nothing is kept.");
ABSL_FLAG(std::string, weights, "",
          "File that gets the trained weights, for Python: "
          "net.load_state_dict(safetensors.torch.load_file(FILE)). Empty: "
          "none.");

namespace trainyard {
namespace {

int Run() {
  const RunReport report({.run_dir = absl::GetFlag(FLAGS_run_dir)});
  const auto backend = MakeBackend(absl::GetFlag(FLAGS_backend));
  const std::shared_ptr<ExportedModel> model =
      OrThrow(LoadExported(absl::GetFlag(FLAGS_model)));
  const std::string weights = absl::GetFlag(FLAGS_weights);
  // Before the run, too: rather fail now than after it.
  if (!weights.empty() && backend->rank() == 0) {
    OrThrow(ExportSafetensors(model->StateDict(), weights));
  }
  const FashionMnist data =
      OrThrow(LoadFashionMnist(absl::GetFlag(FLAGS_data)));
  at::manual_seed(absl::GetFlag(FLAGS_seed));
  AdamW optimizer(*model, {.lr = absl::GetFlag(FLAGS_lr)});
  const NamedMetrics metrics = {{"accuracy", Accuracy()}};
  const std::string compiled = absl::GetFlag(FLAGS_compiled);
  Trainer trainer(compiled.empty()
                      ? Supervised(model, CrossEntropy(), metrics)
                      : CompiledSupervised(
                            model, OrThrow(LoadCompiledStep(compiled, model)),
                            CrossEntropy(), metrics),
                  optimizer, *backend);
  std::optional<Duration> at_most;
  if (const auto updates = absl::GetFlag(FLAGS_max_updates)) {
    at_most = Updates(*updates);
  }
  const RunResult result = trainer.Train(
      WithRunFlags({.data = data.train,
                    .eval_data = data.test,
                    .length = Epochs(absl::GetFlag(FLAGS_epochs)),
                    .at_most = at_most,
                    .per_device_batch_size = absl::GetFlag(FLAGS_batch_size),
                    .schedule = Cosine(),
                    .eval_per_device_batch_size = 1000,
                    .checkpoint = {.directory = absl::GetFlag(FLAGS_run_dir)},
                    .resume = Resume::kIfPresent,
                    .seed = absl::GetFlag(FLAGS_seed)}));
  const WholeParameters whole(*backend);
  if (backend->rank() == 0) {
    report.Finish(trainer, optimizer, result);
    if (!weights.empty()) {
      OrThrow(ExportSafetensors(model->StateDict(), weights));
      absl::PrintF("weights: %s\n", weights);
    }
  }
  return ExitCode(result.ending);
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  trainyard::ParseFlags(
      argc, argv,
      "trains a model that was exported from Python, on Fashion-MNIST.\n\n"
      "A model file is made once, in Python:\n\n"
      "  python3 -m venv /tmp/export\n"
      "  /tmp/export/bin/pip install torch==2.13.0 safetensors==0.8.0 numpy\n"
      "  /tmp/export/bin/python tools/convert/export_model.py \\\n"
      "      tools/examples/exported_net.py:make_net "
      "--out=/tmp/net.safetensors "
      "\\\n"
      "      --compile=cross_entropy\n"
      "  tools/bazel run //tools/examples:train_exported -- \\\n"
      "      --model=/tmp/net.safetensors --compiled=/tmp/net.pt2\n\n"
      "Without --compiled the step is interpreted, and --compile is not "
      "needed");
  return trainyard::Main(trainyard::Run);
}
