// Trains a small convolutional network on folders of PNG and JPEG files:
// FOLDER/train and FOLDER/test, each with a folder per class.
//
//   tools/bazel run //tools/examples:train_images -- --images=FOLDER
//
// Files are decoded when a batch needs them. Two threads do it in advance, so
// that the loop does not wait for them; they change no bit of the result.
#include <ATen/Context.h>
#include <absl/flags/flag.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <string>

#include "backends/make_backend.h"
#include "schedulers/cosine.h"
#include "tools/cli/parse_flags.h"
#include "tools/examples/conv_net.h"
#include "tools/examples/run_report.h"
#include "trainer/data/batch.h"
#include "trainer/data/datasets/map.h"
#include "trainer/data/images/image_folder.h"
#include "trainer/data/transforms/normalize.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

ABSL_FLAG(std::string, images, "",
          "Folder with the folders train and test, each with one folder of "
          "images per class, of at most ten classes.");
ABSL_FLAG(int64_t, epochs, 5, "Number of passes over the training images.");
ABSL_FLAG(int64_t, batch_size, 32, "Images per batch.");
ABSL_FLAG(int64_t, workers, 2,
          "Threads that decode images in advance. 0: the loop decodes them.");
ABSL_FLAG(uint64_t, seed, 1, "Seed of initial weights and order of images.");
ABSL_FLAG(std::string, summary_json, "",
          "File for the final values of the run. Empty: not written.");

namespace trainyard {
namespace {

constexpr size_t kMostClasses = 10;

// Grey images of the size that ConvNet takes.
ImageFolder Open(const std::string& part) {
  const std::string path = absl::GetFlag(FLAGS_images) + "/" + part;
  ImageFolder folder = OrThrow(
      OpenImageFolder(path, {.channels = 1, .height = 28, .width = 28}));
  TORCH_CHECK_VALUE(folder.classes.size() <= kMostClasses, path, ": there are ",
                    folder.classes.size(), " classes; at most ", kMostClasses,
                    " are possible");
  const Normalize normalize({.mean = {0.5}, .deviation = {0.25}});
  folder.data =
      MapBatches<Example>(folder.data, [normalize](const Example& bytes) {
        return Example{normalize(bytes.input), bytes.target};
      });
  return folder;
}

int Run() {
  const RunReport report({.summary_json = absl::GetFlag(FLAGS_summary_json)});
  const ImageFolder train = Open("train"), test = Open("test");
  TORCH_CHECK_VALUE(train.classes == test.classes,
                    "the folders train and test have different classes");
  at::manual_seed(absl::GetFlag(FLAGS_seed));
  ConvNet model;
  AdamW optimizer(*model, {.lr = 3e-3});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, CrossEntropy(), {{"accuracy", Accuracy()}}),
                  optimizer, *backend);
  const RunResult result =
      trainer.Train({.data = train.data,
                     .loader = {.num_workers = absl::GetFlag(FLAGS_workers)},
                     .eval_data = test.data,
                     .length = Epochs(absl::GetFlag(FLAGS_epochs)),
                     .per_device_batch_size = absl::GetFlag(FLAGS_batch_size),
                     .schedule = Cosine(),
                     .seed = absl::GetFlag(FLAGS_seed)});
  report.Finish(trainer, optimizer, result);
  return ExitCode(result.ending);
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv, "trains a network on folders of images");
  return trainyard::Main(trainyard::Run);
}
