// MetricWatch finds the values of one metric as a run measures them, each once:
// an evaluation's when it ends; training's own and those that callbacks record,
// at the end of the epoch.
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
  // `owner` is who watches, for errors. Throws std::invalid_argument if there
  // is no metric.
  MetricWatch(std::string owner, std::string metric);

  const std::string& metric() const { return metric_; }

  // A run starts: anew, or after so many values that were taken before.
  void StartRun(int64_t taken = 0);

  // The evaluation's value; none if it has none, or is no part of a run.
  std::optional<double> Take(const EvalEnd& e);

  // Values of the history that were not taken yet, oldest first. This and
  // EndRun throw std::invalid_argument, which lists the metrics there are, if
  // the metric was not recorded although it could have been.
  std::vector<double> Take(const EpochEnd& e);
  void EndRun(const RunEnd& e);

  // Values of this run so far, for a state to keep.
  int64_t taken() const { return taken_; }

 private:
  [[noreturn]] void ThrowMissing(const RunHistory& history) const;

  std::string owner_;
  std::string metric_;
  // Evaluations outside of runs are no part of a trend.
  bool in_run_ = false;
  bool evaluated_ = false;
  int64_t taken_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_STOPPING_METRIC_WATCH_H_
