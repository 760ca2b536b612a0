// MetricReducer turns what a metric measured in each batch of an evaluation, on
// all ranks, into one or several numbers. The default reducer is the mean
// weighted by records.
//
//   const MetricReducers reducers = {
//       {"largest_error", ReduceMax()},
//       {"median", ReduceWith([](const at::Tensor& rows) {
//          return rows.median().item<double>();
//        })}};
//
// A task returns them from EvalReducers. tracking/scores has ready ones:
// precision, recall, F1, AUC, confusion matrix.
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

// What a reducer returns. The value with the key "" is recorded under the
// metric's own name, any other as "<metric>_<key>".
using ReducedValues = std::map<std::string, double>;

class MetricReducer {
 public:
  virtual ~MetricReducer() = default;

  // The value of one batch, on its device, and how many records it covers.
  virtual void Add(const at::Tensor& value, double weight) = 0;

  // What this rank has added, as rows. Not empty once something was added.
  virtual at::Tensor Partial() const = 0;

  // Whether Partial has one row per record, in the order of Add. Result then
  // gets the rows of all ranks in the order of the data; otherwise in the order
  // of ranks.
  virtual bool keeps_rows() const { return false; }

  // The metric's values, from the rows of all ranks.
  virtual ReducedValues Result(const at::Tensor& rows) const = 0;
};

// Makes the reducer of one evaluation.
using MakeReducer = std::function<std::unique_ptr<MetricReducer>()>;

// By the metric's name. A metric without an entry has ReduceMean.
using MetricReducers = std::map<std::string, MakeReducer>;

// For scalars. The mean is weighted by records.
MakeReducer ReduceMean();
MakeReducer ReduceSum();
MakeReducer ReduceMin();
MakeReducer ReduceMax();

// Perplexity, for a metric that is the mean loss over characters or words.
MakeReducer ReduceExpOfMean();

// Calls the function once, with the values of all batches stacked: a scalar is
// one row, any other tensor has one row per record. Rows are in the order of
// the data, also with several ranks.
MakeReducer ReduceWith(std::function<double(const at::Tensor& rows)> function);
// The same for a function that returns several values.
MakeReducer ReduceToValues(
    std::function<ReducedValues(const at::Tensor& rows)> function);

// For integer tensors of one shape: adds them on the device, exactly, and calls
// the function once with the sum over all batches and ranks, on the CPU as
// int64.
MakeReducer ReduceCounts(
    std::function<ReducedValues(const at::Tensor& counts)> function);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_METRIC_REDUCER_H_
