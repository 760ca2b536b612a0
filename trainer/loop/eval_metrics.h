// EvalMetrics gathers what the batches of one evaluation measured, and reduces
// each metric to one number at its end. It holds a task to its word: every
// batch has the same metrics, and every reducer has a metric.
//
//   EvalMetrics metrics(task.EvalReducers());
//   metrics.Add(output);
//   const Metrics result = metrics.Read(backend);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_LOOP_EVAL_METRICS_H_
#define TRAINYARD_TRAINER_LOOP_EVAL_METRICS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "tracking/metric_reducer.h"
#include "tracking/metrics.h"
#include "trainer/events.h"
#include "trainer/task.h"

namespace trainyard {

class EvalMetrics {
 public:
  explicit EvalMetrics(MetricReducers reducers);

  // A batch of weight 0 counts for nothing. Throws c10::ValueError, naming the
  // metrics, if they are not those of the first batch, or if one is not a
  // scalar and has no reducer that takes more. REQUIRES: output.weight is set.
  void Add(const StepOutput& output);

  // Throws c10::ValueError if a reducer has no metric. Collective: all ranks
  // must call it.
  Metrics Read(Backend& backend);

 private:
  struct Metric {
    std::string name;
    // Null: its mean.
    std::unique_ptr<MetricReducer> reducer;
    // Of a process that saw no record: what the reducer would have given, with
    // no rows.
    at::Tensor no_rows = {};
  };
  void AddTo(size_t place, std::string_view name, const at::Tensor& value,
             double weight);
  std::string Names() const;
  // A line for each metric: the name, a tab, and the type and shape of its
  // reducer's rows.
  std::string Describe() const;
  // Takes part with metrics that another process describes.
  void Learn(const std::string& metrics, Backend& backend);

  MetricReducers reducers_;
  std::vector<Metric> metrics_;
  MetricMeans means_;
  bool first_ = true;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_EVAL_METRICS_H_
