// PredictionRows collects the rows of an evaluation's batches on the host, and
// puts those of several processes into the dataset's order: of each batch the
// first process's rows come first, as trainer/data/partition.h shares them out.
//
//   PredictionRows rows;
//   rows.Add(outputs);                        // once per batch
//   const PredictionRows all = rows.OfAll(backend);
//   std::string csv;
//   all.AppendCsv(0, all.size(), csv);
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_PREDICTIONS_PREDICTION_ROWS_H_
#define TRAINYARD_CALLBACKS_PREDICTIONS_PREDICTION_ROWS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace trainyard {

class PredictionRows {
 public:
  // A batch's: [rows] or [rows, columns], of numbers.
  void Add(const at::Tensor& batch);

  // Of all processes, on all of them. Collective: all ranks must call it, those
  // that had no batch too.
  PredictionRows OfAll(Backend& backend) const;

  int64_t size() const { return size_; }
  // 0 before the first batch.
  int64_t columns() const { return columns_; }

  // "<index>,<number>,…" and a new line for rows `begin` up to `end`. Numbers
  // have the digits that their type can tell apart.
  void AppendCsv(int64_t begin, int64_t end, std::string& csv) const;

 private:
  enum Kind : int64_t { kNone, kWhole, kFloat, kDouble };

  // [rows, columns] of double each, in the order of the batches.
  std::vector<at::Tensor> batches_;
  int64_t size_ = 0;
  int64_t columns_ = 0;
  Kind kind_ = kNone;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PREDICTIONS_PREDICTION_ROWS_H_
