// Trains a small transformer on licences, then adapts it to another text (C
// headers) by LoRA: the weights stay unchanged, and small matrices beside them
// are trained, saved and merged.
//
//   tools/bazel run //tools/examples:lora
#include "finetuning/lora/lora.h"

#include <ATen/Context.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "backends/make_backend.h"
#include "finetuning/lora/adapter_files.h"
#include "finetuning/warm_start/export_model.h"
#include "finetuning/warm_start/warm_start.h"
#include "schedulers/cosine.h"
#include "tools/cli/parse_flags.h"
#include "tools/cli/run_flags.h"
#include "tools/examples/char_task.h"
#include "tools/examples/char_text.h"
#include "tools/examples/char_transformer.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/trainer.h"

ABSL_FLAG(std::string, base_text, "/usr/share/common-licenses",
          "File, or folder of files, that the base model is trained on.");
ABSL_FLAG(std::string, new_text, "/usr/include/netinet",
          "File, or folder of files, that the model is adapted to.");
ABSL_FLAG(
    std::string, folder, "/tmp/trainyard-lora",
    "Folder for the base model (model.safetensors), which is trained only "
    "if it does not exist, and for the adapters in the format of peft.");
ABSL_FLAG(int64_t, base_epochs, 6, "Number of passes over the base text.");
ABSL_FLAG(int64_t, epochs, 6, "Number of passes over the new text.");
ABSL_FLAG(int64_t, paragraph_length, 160,
          "Maximum number of characters per paragraph; longer ones are split.");
ABSL_FLAG(int64_t, rank, 8, "Rank of the adapters.");
ABSL_FLAG(double, lr, 3e-3, "Peak learning rate.");
ABSL_FLAG(uint64_t, seed, 1, "Seed of weights and order.");

namespace {

using namespace trainyard;  // NOLINT: an example, in a program of its own

// Trains the parameters that require gradients: with LoRA, the adapters.
RunEnding Train(CharTransformer& model, const CharText& text, int64_t epochs) {
  AdamW optimizer(*model, {.lr = absl::GetFlag(FLAGS_lr)});
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<CharTask>(model), optimizer, *backend);
  return trainer
      .Train(
          WithRunFlags({.data = MakeTensorDataset(Paragraphs{text.train}),
                        .eval_data = MakeTensorDataset(Paragraphs{text.test}),
                        .length = Epochs(epochs),
                        .per_device_batch_size = 16,
                        .clip = ClipNorm(1.0),
                        .schedule = Cosine({.warmup = Updates(20)}),
                        .seed = absl::GetFlag(FLAGS_seed)}))
      .ending;
}

int64_t CountOf(const std::vector<NamedTensor>& tensors) {
  int64_t count = 0;
  for (const NamedTensor& item : tensors) count += item.tensor.numel();
  return count;
}

double Kilobytes(const std::string& path) {
  return static_cast<double>(std::filesystem::file_size(path)) / 1000;
}

// Trains the base model, or loads it if it exists.
RunEnding MakeBase(CharTransformer& model, const CharText& text,
                   const std::string& file) {
  if (std::filesystem::exists(file)) {
    OrThrow(WarmStart(file, *model).status());
    absl::PrintF("starts from %s\n", file);
    return RunEnding::kFinished;
  }
  absl::PrintF("trains on %d paragraphs of %s\n", text.train.size(0),
               absl::GetFlag(FLAGS_base_text));
  const RunEnding ending = Train(model, text, absl::GetFlag(FLAGS_base_epochs));
  if (ending == RunEnding::kFinished) OrThrow(ExportSafetensors(*model, file));
  return ending;
}

LoraOptions Options() {
  const int64_t rank = absl::GetFlag(FLAGS_rank);
  return {.targets = {"*.query_key_value", "*.projection", "*.widen",
                      "*.narrow", "output"},
          .rank = rank,
          .alpha = 2 * static_cast<double>(rank)};
}

int Run() {
  const int64_t length = absl::GetFlag(FLAGS_paragraph_length);
  const std::string folder = absl::GetFlag(FLAGS_folder);
  const std::string base_file = folder + "/model.safetensors";
  const CharText first =
      ReadCharText(absl::GetFlag(FLAGS_base_text), length, PrintableAscii());
  const CharText other =
      ReadCharText(absl::GetFlag(FLAGS_new_text), length, PrintableAscii());
  std::filesystem::create_directories(folder);
  at::manual_seed(absl::GetFlag(FLAGS_seed));
  CharTransformer model(CharTransformerOptions{.vocabulary = first.vocabulary(),
                                               .length = length});
  RunEnding ending = MakeBase(model, first, base_file);
  if (ending != RunEnding::kFinished) return ExitCode(ending);
  const double first_before = Perplexity(model, first.test);
  const double other_before = Perplexity(model, other.test);

  const int64_t all = CountOf(NamedParameters(*model));
  std::optional<Lora> lora(std::in_place, *model, Options());
  const int64_t trained = CountOf(lora->Parameters());
  absl::PrintF(
      "adapts to %d paragraphs of %s: trains %d parameters; the model has %d "
      "(%.1f %%)\n",
      other.train.size(0), absl::GetFlag(FLAGS_new_text), trained, all,
      100 * static_cast<double>(trained) / static_cast<double>(all));
  ending = Train(model, other, absl::GetFlag(FLAGS_epochs));
  if (ending != RunEnding::kFinished) return ExitCode(ending);
  OrThrow(SaveAdapters(*lora, folder));
  const std::string adapters = folder + "/adapter_model.safetensors";
  absl::PrintF("%s has %.0f KB, the model %.0f KB\n", adapters,
               Kilobytes(adapters), Kilobytes(base_file));

  const double adapted = Perplexity(model, other.test);
  lora->Merge();
  absl::PrintF(
      "perplexity of the new text: %.2f before, %.2f adapted, %.2f merged\n",
      other_before, adapted, Perplexity(model, other.test));
  absl::PrintF("it writes: %s\n", Written(model, other, length - 1));
  lora->Unmerge();
  lora.reset();
  absl::PrintF(
      "perplexity of the first text: %.2f before, %.2f without the adapters\n",
      first_before, Perplexity(model, first.test));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  trainyard::ParseFlags(
      argc, argv, "adapts a small language model to another text with LoRA");
  return Main(Run);
}
