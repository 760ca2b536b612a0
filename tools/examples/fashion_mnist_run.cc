#include "tools/examples/fashion_mnist_run.h"

#include <ATen/Context.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>

#include <optional>
#include <string>

#include "backends/whole_parameters.h"
#include "callbacks/recording/track.h"
#include "schedulers/cosine.h"
#include "tools/cli/parse_flags.h"
#include "tools/cli/run_flags.h"
#include "tools/examples/conv_net.h"
#include "tools/examples/fashion_mnist_data.h"
#include "tools/examples/run_report.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

ABSL_FLAG(std::string, data, trainyard::kFashionMnistFolder,
          "Folder of the four IDX files, gzipped or plain.");
ABSL_FLAG(int64_t, epochs, 5, "Number of passes over the training images.");
ABSL_FLAG(int64_t, batch_size, 128, "Images per batch.");
ABSL_FLAG(double, lr, 3e-3,
          "Peak learning rate, reached after a twentieth of the run; a cosine "
          "schedule follows.");
ABSL_FLAG(std::string, backend, "sp",
          "sp (one process, one device) or sp-amp (mixed precision). "
          "fashion_mnist_ranks, started by //tools/launch, also has those for "
          "several processes: ddp, zero1, zero2, fsdp, each also with -amp.");
ABSL_FLAG(uint64_t, seed, 1,
          "Seed of initial weights, dropout and the order of images.");
ABSL_FLAG(std::optional<int64_t>, max_updates, std::nullopt,
          "Maximum number of updates. Unset: no limit.");
ABSL_FLAG(std::string, run_dir, "",
          "Folder for checkpoints, metrics and summary.json; it is created if "
          "needed. An interrupted run resumes from there, and //tools/report "
          "shows it. Empty: nothing is written.");
ABSL_FLAG(std::optional<int64_t>, checkpoint_every, std::nullopt,
          "Updates between two checkpoints. Unset: one after each epoch.");
ABSL_FLAG(bool, augment, false,
          "Mirrors and shifts the training images at random.");
ABSL_FLAG(int64_t, workers, 0,
          "Threads that load batches in advance. They change no result, and do "
          "not pay here: images in memory cost next to nothing. See "
          "train_images for those that must be decoded.");
ABSL_FLAG(std::string, summary_json, "",
          "File for the final values of the run. Empty: not written.");

namespace trainyard {
namespace {

CheckpointOptions Checkpoints() {
  CheckpointOptions options{.directory = absl::GetFlag(FLAGS_run_dir)};
  if (const auto every = absl::GetFlag(FLAGS_checkpoint_every)) {
    options.save = Every(Updates(*every));
  }
  return options;
}

// Warms up for a twentieth of the run.
std::unique_ptr<Schedule> WarmUpAndDecay(const RunLength& run) {
  const auto warmup = static_cast<double>(run.total_updates.value() / 20);
  return Cosine({.warmup = Updates(warmup)})(run);
}

int Run(const BackendMaker& make_backend) {
  const std::string run_dir = absl::GetFlag(FLAGS_run_dir);
  const RunReport report(
      {.run_dir = run_dir, .summary_json = absl::GetFlag(FLAGS_summary_json)});
  const auto backend = make_backend(absl::GetFlag(FLAGS_backend));
  const FashionMnist data =
      OrThrow(LoadFashionMnist(absl::GetFlag(FLAGS_data)));
  const uint64_t seed = absl::GetFlag(FLAGS_seed);
  at::manual_seed(seed);
  ConvNet model;
  AdamW optimizer(*model, {.lr = absl::GetFlag(FLAGS_lr)});
  Trainer trainer(Supervised(model, CrossEntropy(), {{"accuracy", Accuracy()}}),
                  optimizer, *backend);
  if (backend->rank() == 0) {
    trainer.Add(On<CheckpointLoaded>([](const CheckpointLoaded& e, Control&) {
      absl::PrintF("resumes from %s\n", e.path);
    }));
  }
  if (backend->rank() == 0 && !run_dir.empty()) {
    trainer.Add(
        Track({.run_dir = run_dir,
               .values = {{"lr", [&] { return optimizer.Field(0, "lr"); }}},
               .hooks = [&] { return trainer.callbacks().Describe(); }}));
  }
  std::optional<Duration> at_most;
  if (const auto updates = absl::GetFlag(FLAGS_max_updates)) {
    at_most = Updates(*updates);
  }
  const RunResult result = trainer.Train(
      WithRunFlags({.data = absl::GetFlag(FLAGS_augment)
                                ? AugmentFashionMnist(data.train, seed)
                                : data.train,
                    .loader = {.num_workers = absl::GetFlag(FLAGS_workers)},
                    .eval_data = data.test,
                    .length = Epochs(absl::GetFlag(FLAGS_epochs)),
                    .at_most = at_most,
                    .per_device_batch_size = absl::GetFlag(FLAGS_batch_size),
                    .clip = ClipNorm(1.0),
                    .schedule = WarmUpAndDecay,
                    .eval_per_device_batch_size = 1000,
                    .checkpoint = Checkpoints(),
                    .resume = Resume::kIfPresent,
                    .seed = seed}));
  const WholeParameters whole(*backend);
  if (backend->rank() == 0) report.Finish(trainer, optimizer, result);
  return ExitCode(result.ending);
}

}  // namespace

int TrainFashionMnist(int argc, char** argv, const BackendMaker& make_backend) {
  ParseFlags(argc, argv,
             "trains a small convolutional network on Fashion-MNIST");
  return Main([&] { return Run(make_backend); });
}

}  // namespace trainyard
