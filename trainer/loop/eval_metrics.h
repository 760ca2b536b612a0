// EvalMetrics accumulates what the batches of one evaluation measured, and
// reduces each metric at its end. It checks that every batch has the same
// metrics, and that every reducer has a metric.
//
//   EvalMetrics metrics({{"error", ReduceMax()}});
//   metrics.Add({.loss = loss, .weight = 2, .metrics = {{"error", error}}});
//   const Metrics result = metrics.Read(backend);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_LOOP_EVAL_METRICS_H_
#define TRAINYARD_TRAINER_LOOP_EVAL_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/collectives.h"
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
  // scalar and has no reducer that takes more. REQUIRES: output.weight is set,
  // and the i-th call of each rank is for its part of the i-th global batch.
  void Add(const StepOutput& output);

  // Throws c10::ValueError if a reducer has no metric, or if two metrics give
  // a value the same name. Collective: all ranks must call it.
  Metrics Read(Backend& backend);

 private:
  struct Metric {
    std::string name;
    // Null: the mean.
    std::unique_ptr<MetricReducer> reducer;
    // Of a reducer that keeps rows: how many each call of Add gave it.
    std::vector<int64_t> rows_of_batch = {};
    // What this rank contributes. Set by Read, or by Learn without rows.
    at::Tensor partial = {};
  };
  void AddTo(size_t place, std::string_view name, const at::Tensor& value,
             double weight);
  std::string Names() const;
  // A line for each metric: the name, a tab, and the type and shape of its
  // reducer's rows.
  std::string Describe() const;
  // For a rank without records: takes the metrics that another rank describes.
  void Learn(const std::string& metrics, Backend& backend);
  // The rows of all ranks, for the reducer's Result.
  static at::Tensor RowsOfAll(const Metric& metric, Collectives& collectives);

  MetricReducers reducers_;
  std::vector<Metric> metrics_;
  MetricMeans means_;
  bool first_ = true;
  // Calls of Add before this one.
  size_t batch_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_EVAL_METRICS_H_
