#include "trainer/checkpoint/folder/retention.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

namespace trainyard {
namespace {

void RequireAtLeast(int64_t least, const char* field, int64_t value) {
  if (value >= least) return;
  throw std::invalid_argument(std::string("RetentionOptions: ") + field +
                              " is " + std::to_string(value) +
                              "; it must be at least " + std::to_string(least));
}

// The sequence numbers of the checkpoints with the best metric. Among equal
// metrics the later checkpoint wins.
std::set<int64_t> BestOf(const std::vector<StepInfo>& steps,
                         const RetentionOptions& options) {
  std::vector<std::pair<double, int64_t>> ranked;
  for (const StepInfo& step : steps) {
    const auto metric = step.metrics.find(options.metric);
    if (metric == step.metrics.end() || std::isnan(metric->second)) continue;
    const bool lower = options.better == Better::kLower;
    ranked.emplace_back(lower ? metric->second : -metric->second,
                        -step.sequence);
  }
  std::sort(ranked.begin(), ranked.end());
  std::set<int64_t> best;
  for (const auto& [score, place] : ranked) {
    if (best.size() == static_cast<size_t>(options.best)) break;
    best.insert(-place);
  }
  return best;
}

}  // namespace

void CheckRetention(const RetentionOptions& options) {
  RequireAtLeast(1, "last", options.last.value_or(1));
  RequireAtLeast(0, "best", options.best);
  RequireAtLeast(1, "every", options.every.value_or(1));
  if (options.best > 0 && options.metric.empty()) {
    throw std::invalid_argument("RetentionOptions: best is " +
                                std::to_string(options.best) +
                                ", but metric is not set");
  }
}

std::vector<StepInfo> StepsToRemove(std::vector<StepInfo> steps,
                                    const RetentionOptions& options) {
  if (!options.last) return {};
  std::sort(steps.begin(), steps.end(),
            [](const StepInfo& a, const StepInfo& b) {
              return a.sequence < b.sequence;
            });
  const std::set<int64_t> best = BestOf(steps, options);
  const size_t last = static_cast<size_t>(*options.last);
  if (steps.size() <= last) return {};
  steps.resize(steps.size() - last);  // the last ones are kept
  std::erase_if(steps, [&](const StepInfo& step) {
    return best.contains(step.sequence) ||
           (options.every && step.step % *options.every == 0);
  });
  return steps;
}

}  // namespace trainyard
