// MetricWatch returns each value of one metric once: a value of an evaluation
// when the evaluation ends, other values at the end of the epoch.
//
//   if (const std::optional<double> value = watch.Take(eval_end)) {
//     Judge(*value);
//   }
//   for (const double value : watch.Take(epoch_end)) Judge(value);
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_STOPPING_METRIC_WATCH_H_
#define TRAINYARD_CALLBACKS_STOPPING_METRIC_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/events.h"

namespace trainyard {

class MetricWatch {
 public:
  // `owner` is named in errors. Throws std::invalid_argument for an empty
  // metric.
  MetricWatch(std::string owner, std::string metric);

  const std::string& metric() const { return metric_; }

  // A run starts. `taken` values were taken before, in a resumed run.
  void StartRun(int64_t taken = 0);

  // The evaluation's value. Unset if it has none, or is not part of a run.
  std::optional<double> Take(const EvalEnd& e);

  // Values of the history that were not taken yet, oldest first. This and
  // EndRun throw std::invalid_argument, listing the metrics there are, if the
  // metric was never recorded.
  std::vector<double> Take(const EpochEnd& e);
  void EndRun(const RunEnd& e);

  // The number of values of this run so far, to be saved.
  int64_t taken() const { return taken_; }

 private:
  [[noreturn]] void ThrowMissing(const RunHistory& history) const;

  std::string owner_;
  std::string metric_;
  // Evaluations outside of runs do not count.
  bool in_run_ = false;
  bool evaluated_ = false;
  int64_t taken_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_STOPPING_METRIC_WATCH_H_
