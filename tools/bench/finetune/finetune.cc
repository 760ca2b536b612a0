// Measures the cost of fine-tuning a transformer of 24 blocks: trained
// parameters, peak memory and processor time of a step; fully, with activation
// checkpointing, with everything except the head frozen, and with LoRA:
//
//   tools/bazel run //tools/bench/finetune
//
// Each way runs in its own process, because a peak cannot be reset.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randint.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "finetuning/lora/lora.h"
#include "tools/bench/finetune/block_stack.h"
#include "tools/cli/parse_flags.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"

ABSL_FLAG(std::string, way, "",
          "full, checkpointed, head or lora: measures only this way, in this "
          "process. Empty: prints a table of all.");
ABSL_FLAG(int64_t, steps, 5,
          "Number of measured steps, after one warm-up step.");
ABSL_FLAG(int64_t, batch_size, 16, "Texts per batch.");
ABSL_FLAG(int64_t, length, 256, "Characters of a text.");
ABSL_FLAG(int64_t, blocks, 24, "Blocks of the transformer.");
ABSL_FLAG(bool, return_memory, true,
          "Make malloc return the memory of large tensors immediately "
          "(M_MMAP_THRESHOLD). Otherwise glibc keeps blocks of up to 32 MB "
          "that it cannot always reuse.");

namespace trainyard {
namespace {

constexpr std::array kWays = {"full", "checkpointed", "head", "lora"};

// Peak memory of this process so far (the kernel's high water mark), in MB.
double PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes / 1024;
  }
  throw std::runtime_error("/proc/self/status has no VmHWM");
}

BlockStack MakeModel(const std::string& way) {
  BlockStack model(
      BlockStackOptions{.blocks = absl::GetFlag(FLAGS_blocks),
                        .checkpoint_activations = way == "checkpointed"});
  if (way == "head") {
    for (const auto& item : model->named_parameters()) {
      at::Tensor parameter = item.value();
      parameter.requires_grad_(item.key().starts_with("head."));
    }
  }
  return model;
}

// Of every block.
LoraOptions AllLinear() {
  return {
      .targets = {"*.query_key_value", "*.projection", "*.widen", "*.narrow"},
      .rank = 8};
}

int64_t CountTrained(const BlockStack& model) {
  int64_t count = 0;
  for (const at::Tensor& parameter : model->parameters()) {
    if (parameter.requires_grad()) count += parameter.numel();
  }
  return count;
}

// Prints trained parameters, MB and ms.
int Measure(const std::string& way) {
  if (std::find(kWays.begin(), kWays.end(), way) == kWays.end()) {
    throw std::invalid_argument("there is no way \"" + way +
                                "\"; use full, checkpointed, head or lora");
  }
  at::set_num_threads(1);
  if (absl::GetFlag(FLAGS_return_memory)) mallopt(M_MMAP_THRESHOLD, 1 << 20);
  at::manual_seed(1);
  BlockStack model = MakeModel(way);
  std::optional<Lora> lora;
  if (way == "lora") lora.emplace(*model, AllLinear());
  AdamW optimizer(*model, {.lr = 1e-4});
  const at::Tensor text = at::randint(
      96, {absl::GetFlag(FLAGS_batch_size), absl::GetFlag(FLAGS_length)},
      at::kLong);
  std::vector<double> times;
  for (int64_t step = 0; step <= absl::GetFlag(FLAGS_steps); ++step) {
    const std::clock_t start = std::clock();
    at::cross_entropy_loss(model->forward(text).flatten(0, 1), text.flatten())
        .backward();
    optimizer.step();
    optimizer.ZeroGrad();
    const std::clock_t end = std::clock();
    if (step > 0)
      times.push_back(1000.0 * static_cast<double>(end - start) /
                      CLOCKS_PER_SEC);
  }
  std::sort(times.begin(), times.end());
  absl::PrintF("%d %.0f %.0f\n", CountTrained(model), PeakMemory(),
               times.at(times.size() / 2));
  return 0;
}

struct Numbers {
  int64_t trained = 0;
  double megabytes = 0;
  double milliseconds = 0;
};

// Runs one way in its own process.
Numbers Measured(const std::string& program, const std::string& way) {
  const std::string command = absl::StrFormat(
      "'%s' --way=%s --steps=%d --batch_size=%d --length=%d --blocks=%d "
      "--return_memory=%s",
      program, way, absl::GetFlag(FLAGS_steps), absl::GetFlag(FLAGS_batch_size),
      absl::GetFlag(FLAGS_length), absl::GetFlag(FLAGS_blocks),
      absl::GetFlag(FLAGS_return_memory) ? "true" : "false");
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::array<char, 200> line = {};
  Numbers numbers;
  const bool read = std::fgets(line.data(), line.size(), pipe) != nullptr;
  if (pclose(pipe) != 0 || !read) throw std::runtime_error(command + " failed");
  std::istringstream(line.data()) >> numbers.trained >> numbers.megabytes >>
      numbers.milliseconds;
  return numbers;
}

int Table(const std::string& program) {
  absl::PrintF(
      "| way | parameters trained | peak memory | processor time of a step "
      "|\n");
  absl::PrintF("| --- | --- | --- | --- |\n");
  Numbers full;
  for (const std::string way : kWays) {
    const Numbers numbers = Measured(program, way);
    if (way == "full") full = numbers;
    absl::PrintF("| %s | %d | %.0f MB, %.0f %% | %.0f ms, %.0f %% |\n", way,
                 numbers.trained, numbers.megabytes,
                 100 * numbers.megabytes / full.megabytes, numbers.milliseconds,
                 100 * numbers.milliseconds / full.milliseconds);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv, "measures what ways of fine-tuning cost");
  return trainyard::Main([] {
    const std::string way = absl::GetFlag(FLAGS_way);
    return way.empty() ? trainyard::Table(
                             std::filesystem::read_symlink("/proc/self/exe"))
                       : trainyard::Measure(way);
  });
}
