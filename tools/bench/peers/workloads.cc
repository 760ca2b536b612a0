#include "tools/bench/peers/workloads.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <map>
#include <stdexcept>

#include "tools/examples/fashion_mnist_data.h"
#include "trainer/data/batch.h"
#include "trainer/or_throw.h"

namespace trainyard::bench {
namespace {

constexpr int64_t kVocabulary = 1000, kLength = 64;
constexpr size_t kWarmup = 5;
constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

double SinceLaunch(double time) {
  const char* const launched = std::getenv("BENCH_LAUNCH");
  return launched == nullptr ? 0 : time - std::atof(launched);
}

}  // namespace

Workload GetWorkload(const std::string& name, int64_t steps) {
  const std::map<std::string, Workload> workloads = {
      {"tiny", {Network::kMlp, 32, 1e-3, steps, {32, 64, 64, 10}}},
      {"mlp", {Network::kMlp, 128, 1e-3, steps, {784, 1024, 1024, 10}}},
      {"transformer", {Network::kTransformer, 16, 1e-3, steps}},
      {"conv", {Network::kConvNet, 128, 3e-3, steps}}};
  const auto found = workloads.find(name);
  if (found == workloads.end()) {
    throw std::invalid_argument(absl::StrCat(
        "--workload=", name, ": must be tiny, mlp, transformer or conv"));
  }
  const bool whole = name == "conv" && steps == 0;
  if (!whole && steps <= static_cast<int64_t>(kWarmup)) {
    throw std::invalid_argument(absl::StrCat("--steps=", steps,
                                             ": must be more than the ",
                                             kWarmup, " steps of the warm-up"));
  }
  return found->second;
}

Records First(const Dataset& data, int64_t count) {
  const Example batch =
      data.Gather(at::arange(std::min(count, data.size()), at::kLong))
          .As<Example>();
  return {batch.input, batch.target};
}

Records MakeRecords(const Workload& work, int64_t records) {
  torch::manual_seed(0);
  switch (work.network) {
    case Network::kConvNet:
      return First(*OrThrow(LoadFashionMnist(kFashionMnistFolder)).train,
                   records == 0 ? kAll : records);
    case Network::kTransformer: {
      const at::Tensor tokens =
          at::randint(kVocabulary, {records, kLength}, at::kLong);
      return {tokens, tokens.mul(7).add(3).remainder(kVocabulary)};
    }
    case Network::kMlp:
      break;
  }
  const at::Tensor input = at::randn({records, work.widths.front()});
  const at::Tensor classes =
      at::randn({work.widths.front(), work.widths.back()});
  return {input, input.matmul(classes).argmax(1)};
}

Records TestRecords() {
  return First(*OrThrow(LoadFashionMnist(kFashionMnistFolder)).test, kAll);
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
  absl::PrintF(
      "@@{\"mean_ms\": %.6f, \"p50_ms\": %.6f, \"startup_s\": %.4f, "
      "\"steps\": %d, \"final_loss\": %.6f}\n",
      mean, times[times.size() / 2], SinceLaunch(ends[0]), ends.size(), loss);
}

void PrintAccuracy(int64_t epochs, double accuracy) {
  if (accuracy < kWanted) {
    throw std::runtime_error(absl::StrCat("the accuracy was ", accuracy,
                                          " after ", epochs, " epochs"));
  }
  absl::PrintF("@@{\"seconds\": %.3f, \"epochs\": %d, \"accuracy\": %.4f}\n",
               SinceLaunch(Seconds()), epochs, accuracy);
}

}  // namespace trainyard::bench
