// MetricReducer makes one number of the values that a metric had in each batch
// of an evaluation, on all processes. The usual one is the mean weighted by
// records.
//
//   MetricReducers EvalReducers() const override {
//     return {{"largest_error", ReduceMax()},
//             {"auc", ReduceWith([](const at::Tensor& rows) { … })}};
//   }
//
// Thread-compatible.
#ifndef TRAINYARD_TRACKING_METRIC_REDUCER_H_
#define TRAINYARD_TRACKING_METRIC_REDUCER_H_

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace trainyard {

class MetricReducer {
 public:
  virtual ~MetricReducer() = default;

  // The value of one batch, on its device, and how many records it is over.
  virtual void Add(const at::Tensor& value, double weight) = 0;

  // What this process has seen, as rows. Not empty once something was added.
  virtual at::Tensor Partial() const = 0;

  // The metric, from the rows of all processes.
  virtual double Result(const at::Tensor& rows) const = 0;
};

// Makes the reducer of one evaluation.
using MakeReducer = std::function<std::unique_ptr<MetricReducer>()>;

// By the metric's name. Metrics that are not named have ReduceMean.
using MetricReducers = std::map<std::string, MakeReducer>;

// Of scalars; the mean is weighted by records.
MakeReducer ReduceMean();
MakeReducer ReduceSum();
MakeReducer ReduceMin();
MakeReducer ReduceMax();

// Perplexity, of a metric that is the mean loss over characters or words.
MakeReducer ReduceExpOfMean();

// Calls the function once, with the values of all batches under each other: a
// scalar is one row, any other tensor has a row per record. Rows keep the order
// of the data on one process; several processes' rows follow each other.
MakeReducer ReduceWith(std::function<double(const at::Tensor& rows)> function);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_METRIC_REDUCER_H_
