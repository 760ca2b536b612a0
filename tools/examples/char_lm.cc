// Trains a small transformer on the text of the licences that are on every
// Debian machine:
//
//   tools/bazel run //tools/examples:char_lm
//
// Paragraphs differ in length, so batches differ in their number of characters.
// The loss is weighted by characters, so that a window of several batches has
// exactly the gradient of one large batch.
#include <ATen/Context.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>

#include <optional>
#include <string>

#include "backends/make_backend.h"
#include "schedulers/cosine.h"
#include "tools/cli/parse_flags.h"
#include "tools/cli/run_flags.h"
#include "tools/examples/char_task.h"
#include "tools/examples/char_text.h"
#include "tools/examples/char_transformer.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/trainer.h"

ABSL_FLAG(std::string, text, "/usr/share/common-licenses",
          "File, or folder of files, to train on.");
ABSL_FLAG(int64_t, epochs, 12,
          "Number of passes over the text; each takes ten seconds.");
ABSL_FLAG(std::optional<int64_t>, max_updates, std::nullopt,
          "Maximum number of updates. Unset: no limit.");
ABSL_FLAG(int64_t, paragraph_length, 160,
          "Maximum number of characters per paragraph; longer ones are split.");
ABSL_FLAG(int64_t, batch_size, 8, "Paragraphs per batch.");
ABSL_FLAG(double, lr, 3e-3, "Peak learning rate.");
ABSL_FLAG(uint64_t, seed, 1, "Seed of weights and order.");

namespace {

using namespace trainyard;  // NOLINT: an example, in a program of its own

int Run() {
  const int64_t length = absl::GetFlag(FLAGS_paragraph_length);
  const CharText text = ReadCharText(absl::GetFlag(FLAGS_text), length);
  absl::PrintF(
      "%d paragraphs to train on, %d to test, %d different characters\n",
      text.train.size(0), text.test.size(0), text.alphabet.size());
  at::manual_seed(absl::GetFlag(FLAGS_seed));
  CharTransformer model(CharTransformerOptions{.vocabulary = text.vocabulary(),
                                               .length = length});
  AdamW optimizer(*model, {.lr = absl::GetFlag(FLAGS_lr)});
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<CharTask>(model), optimizer, *backend);
  const DatasetPtr test = MakeTensorDataset(Paragraphs{text.test});
  const double before = trainer.Evaluate(test, 16).at("evaluation_perplexity");
  std::optional<Duration> at_most;
  if (const auto updates = absl::GetFlag(FLAGS_max_updates)) {
    at_most = Updates(*updates);
  }
  const RunResult result = trainer.Train(
      WithRunFlags({.data = MakeTensorDataset(Paragraphs{text.train}),
                    .eval_data = test,
                    .length = Epochs(absl::GetFlag(FLAGS_epochs)),
                    .at_most = at_most,
                    .per_device_batch_size = absl::GetFlag(FLAGS_batch_size),
                    .grad_accum_steps = 2,
                    .clip = ClipNorm(1.0),
                    .schedule = Cosine({.warmup = Updates(20)}),
                    .seed = absl::GetFlag(FLAGS_seed)}));
  if (result.ending == RunEnding::kCancelled) return ExitCode(result.ending);
  absl::PrintF("perplexity: %.2f before, %.2f after\n", before,
               trainer.history().Latest("eval_perplexity"));
  absl::PrintF("it writes: %s\n", Written(model, text, length - 1));
  return ExitCode(result.ending);
}

}  // namespace

int main(int argc, char** argv) {
  trainyard::ParseFlags(
      argc, argv, "trains a small transformer on text, character by character");
  return Main(Run);
}
