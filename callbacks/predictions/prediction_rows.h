// PredictionRows collects the rows of an evaluation's batches on the host, and
// puts the rows of several ranks into the order of the dataset: trainer/data
// divides each global batch among the ranks in their order.
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
  // The rows of a batch, of shape [rows] or [rows, columns].
  void Add(const at::Tensor& batch);

  // The rows of all ranks. Collective: all ranks must call it, also those
  // without a batch.
  PredictionRows OfAll(Backend& backend) const;

  int64_t size() const { return size_; }
  // 0 before the first batch.
  int64_t columns() const { return columns_; }

  // Appends "<index>,<number>,…" and a new line for rows `begin` up to `end`.
  // Numbers have the digits that their type needs to read back equal.
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
