#include "tools/bench/peers/workloads.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <stdexcept>

namespace trainyard::bench {
namespace {

constexpr int64_t kVocabulary = 1000, kLength = 64;
constexpr size_t kWarmup = 5;

}  // namespace

Workload GetWorkload(const std::string& name, int64_t steps) {
  const std::map<std::string, Workload> workloads = {
      {"tiny", {32, 2000, {32, 64, 64, 10}}},
      {"mlp", {128, 200, {784, 1024, 1024, 10}}},
      {"transformer", {16, 60}}};
  const auto found = workloads.find(name);
  if (found == workloads.end()) {
    throw std::invalid_argument(absl::StrCat(
        "--workload=", name, ": must be tiny, mlp or transformer"));
  }
  Workload work = found->second;
  if (steps > 0) work.steps = steps;
  if (work.steps <= static_cast<int64_t>(kWarmup)) {
    throw std::invalid_argument(absl::StrCat("--steps=", steps,
                                             ": must be more than the ",
                                             kWarmup, " steps of the warm-up"));
  }
  return work;
}

Records MakeRecords(const Workload& work, int64_t records) {
  torch::manual_seed(0);
  if (work.widths.empty()) {
    const at::Tensor tokens =
        at::randint(kVocabulary, {records, kLength}, at::kLong);
    return {tokens, tokens.mul(7).add(3).remainder(kVocabulary)};
  }
  const at::Tensor input = at::randn({records, work.widths.front()});
  const at::Tensor classes =
      at::randn({work.widths.front(), work.widths.back()});
  return {input, input.matmul(classes).argmax(1)};
}

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void PrintResult(const std::vector<double>& ends, double loss) {
  std::vector<double> times;
  for (size_t i = kWarmup; i < ends.size(); ++i) {
    times.push_back(1e3 * (ends[i] - ends[i - 1]));
  }
  if (times.empty()) {
    throw std::invalid_argument(
        absl::StrCat("PrintResult: ", ends.size(),
                     " steps; there must be more than the warm-up"));
  }
  const double mean = 1e3 * (ends.back() - ends[kWarmup - 1]) /
                      static_cast<double>(times.size());
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  const char* const launched = std::getenv("BENCH_LAUNCH");
  absl::PrintF(
      "@@{\"mean_ms\": %.6f, \"p50_ms\": %.6f, \"startup_s\": %.4f, "
      "\"steps\": %d, \"final_loss\": %.6f}\n",
      mean, times[times.size() / 2],
      launched == nullptr ? 0 : ends[0] - std::atof(launched), ends.size(),
      loss);
}

}  // namespace trainyard::bench
