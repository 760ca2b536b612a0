#include "tools/inspect/memory_tool.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_format.h>

#include <cstdint>
#include <stdexcept>

#include "tools/cli/settings.h"
#include "tools/inspect/memory_plan.h"

namespace trainyard {
namespace {

constexpr char kUsage[] =
    R"(Prints the memory that each rank needs to train a model with AdamW, in MiB.

  memory PARAMETERS RANKS      elements of all parameters (float32), and ranks
      --largest=N              elements of the largest parameter; without it: a
                               bucket's
      --unit=N                 elements of the largest unit, for fsdp; without
                               it: the model declares none
      --bucket_bytes=26214400  as in ZeroOptions

weights, gradients and state are what a rank holds when the optimizer updates.
exchange is what it needs beside them at most: the gradient that is computed,
buckets on their way, and whole parameters under fsdp. Inputs and activations come on top, and the shared
memory by which ranks of one machine exchange tensors.
)";

int64_t WholeNumber(const std::string& text, const char* what) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) {
    throw std::invalid_argument("'" + text + "' is not a number of " + what);
  }
  return number;
}

double Mib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

void Print(const MemoryQuestion& question, std::ostream& out) {
  out << absl::StrFormat("%-8s %12s %12s %12s %12s %12s\n", "MiB", "weights",
                         "gradients", "state", "exchange", "total");
  for (const MemoryPlan& plan : PlanMemory(question)) {
    out << absl::StrFormat("%-8s %12.1f %12.1f %12.1f %12.1f %12.1f\n",
                           plan.backend, Mib(plan.weights), Mib(plan.gradients),
                           Mib(plan.state), Mib(plan.exchange),
                           Mib(plan.total()));
  }
}

void RunTool(const std::vector<std::string>& arguments, std::ostream& out) {
  std::vector<std::string> words, flags;
  for (const std::string& argument : arguments) {
    (argument.starts_with("--") ? flags : words).push_back(argument);
  }
  Settings settings(flags);
  if (settings.Flag("help")) {
    out << kUsage;
    return;
  }
  if (words.size() != 2) {
    throw std::invalid_argument("takes PARAMETERS and RANKS, not " +
                                std::to_string(words.size()) +
                                " words; see --help");
  }
  MemoryQuestion question{.parameters = WholeNumber(words[0], "parameters"),
                          .ranks = WholeNumber(words[1], "ranks")};
  if (settings.Has("largest"))
    question.largest = settings.Integer("largest", 1);
  if (settings.Has("unit")) question.unit = settings.Integer("unit", 1);
  question.bucket_bytes =
      settings.Integer("bucket_bytes", question.bucket_bytes);
  settings.CheckAllUsed("memory");
  Print(question, out);
}

}  // namespace

int RunMemoryTool(const std::vector<std::string>& arguments, std::ostream& out,
                  std::ostream& err) {
  try {
    RunTool(arguments, out);
    return 0;
  } catch (const std::invalid_argument& error) {
    err << "memory: " << error.what() << "\n";
    return 2;
  }
}

}  // namespace trainyard
