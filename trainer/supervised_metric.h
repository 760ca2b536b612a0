// SupervisedMetric is a metric of outputs and target: what is measured in each
// batch of an evaluation, and how the batches of all ranks become the metric's
// values. A function alone, such as Accuracy(), is averaged over records.
//
//   const NamedMetrics metrics = {{"accuracy", Accuracy()},
//                                 {"f1", F1({.average = ScoreAverage::kMicro})}};
//   Trainer trainer(Supervised(model, CrossEntropy(), metrics), optimizer,
//                   *backend);
//
// A task of your own returns metric.of_batch(outputs, target) from EvalStep,
// and metric.reducer from EvalReducers, both under the same name.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_SUPERVISED_METRIC_H_
#define TRAINYARD_TRAINER_SUPERVISED_METRIC_H_

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "tracking/metric_reducer.h"
#include "trainer/losses.h"

namespace trainyard {

struct SupervisedMetric {
  SupervisedMetric(OutputsAndTarget function, MakeReducer reduce)
      : of_batch(std::move(function)), reducer(std::move(reduce)) {}

  // The mean of a function of outputs and target.
  template <std::convertible_to<OutputsAndTarget> Function>
  SupervisedMetric(Function function)  // NOLINT: a function is a metric
      : of_batch(std::move(function)) {}

  // What one batch measures, on its device.
  OutputsAndTarget of_batch;
  // Null: the mean over records, of scalars.
  MakeReducer reducer;
};

// By name, in the order in which they are measured.
using NamedMetrics = std::vector<std::pair<std::string, SupervisedMetric>>;

// The reducers of those metrics that have one.
inline MetricReducers ReducersOf(const NamedMetrics& metrics) {
  MetricReducers reducers;
  for (const auto& [name, metric] : metrics) {
    if (metric.reducer != nullptr) reducers[name] = metric.reducer;
  }
  return reducers;
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_SUPERVISED_METRIC_H_
