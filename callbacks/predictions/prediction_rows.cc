#include "callbacks/predictions/prediction_rows.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace trainyard {
namespace {

void AppendNumber(std::string& csv, double value, bool whole, bool single) {
  std::array<char, 32> text;
  char* const begin = text.data();
  char* const end = begin + text.size();
  char* const last =
      whole    ? std::to_chars(begin, end, static_cast<int64_t>(value)).ptr
      : single ? std::to_chars(begin, end, static_cast<float>(value)).ptr
               : std::to_chars(begin, end, value).ptr;
  csv.append(begin, last);
}

}  // namespace

void PredictionRows::Add(const at::Tensor& batch) {
  const at::Tensor rows =
      batch.detach().reshape({batch.size(0), -1}).to(at::kDouble).cpu();
  TORCH_CHECK_VALUE(columns_ == 0 || rows.size(1) == columns_,
                    "a batch has predictions of ", rows.size(1),
                    " columns, the one before of ", columns_);
  const Kind kind = batch.scalar_type() == at::kDouble ? kDouble
                    : batch.is_floating_point()        ? kFloat
                                                       : kWhole;
  kind_ = std::max(kind_, kind);
  columns_ = rows.size(1);
  size_ += rows.size(0);
  batches_.push_back(rows);
}

PredictionRows PredictionRows::OfAll(Backend& backend) const {
  // First how many rows each has of which batch, and of which kind.
  std::vector<int64_t> layout = {columns_, kind_};
  for (const at::Tensor& batch : batches_) layout.push_back(batch.size(0));
  Collectives& collectives = backend.collectives();
  std::vector<at::Tensor> layouts =
      collectives.AllGather(at::tensor(layout, at::kLong).to(backend.device()));
  PredictionRows all;
  for (at::Tensor& each : layouts) {
    each = each.cpu();
    all.columns_ = std::max(all.columns_, each[0].item<int64_t>());
    all.kind_ = std::max(all.kind_, static_cast<Kind>(each[1].item<int64_t>()));
  }
  at::Tensor mine = at::empty({0, all.columns_}, at::kDouble);
  if (!batches_.empty()) mine = at::cat(batches_);
  const std::vector<at::Tensor> rows =
      collectives.AllGather(mine.to(backend.device()));
  std::vector<int64_t> taken(rows.size(), 0);
  for (int64_t batch = 2;; ++batch) {
    bool any = false;
    for (size_t rank = 0; rank < rows.size(); ++rank) {
      if (batch >= layouts[rank].size(0)) continue;
      any = true;
      const int64_t count = layouts[rank][batch].item<int64_t>();
      all.batches_.push_back(
          rows[rank].slice(0, taken[rank], taken[rank] + count).cpu());
      taken[rank] += count;
      all.size_ += count;
    }
    if (!any) return all;
  }
}

void PredictionRows::AppendCsv(int64_t begin, int64_t end,
                               std::string& csv) const {
  int64_t index = 0;
  for (const at::Tensor& batch : batches_) {
    const int64_t rows = batch.size(0);
    if (index + rows <= begin || index >= end) {
      index += rows;
      continue;
    }
    const at::Tensor contiguous = batch.contiguous();
    const double* values = contiguous.const_data_ptr<double>();
    for (int64_t row = 0; row < rows; ++row, ++index) {
      if (index < begin || index >= end) continue;
      csv += std::to_string(index);
      for (int64_t column = 0; column < columns_; ++column) {
        csv += ',';
        AppendNumber(csv, values[row * columns_ + column], kind_ == kWhole,
                     kind_ == kFloat);
      }
      csv += '\n';
    }
  }
}

}  // namespace trainyard
