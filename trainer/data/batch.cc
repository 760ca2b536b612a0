#include "trainer/data/batch.h"

#include <ATen/ops/cat.h>
#include <c10/util/Type.h>

namespace trainyard {

std::string AnyBatch::TypeName(const std::type_info& type) {
  return c10::demangle(type.name());
}

int64_t AnyBatch::RowsOf(const at::Tensor& first) {
  TORCH_CHECK_VALUE(first.defined() && first.dim() >= 1,
                    "the first tensor of a batch must have a row per record");
  return first.size(0);
}

AnyBatch AnyBatch::Map(TensorFunction function) const {
  AnyBatch mapped = holder_->Map(function);
  return padding_ == 0 ? mapped : mapped.WithPadding(padding_);
}

AnyBatch AnyBatch::To(at::Device device) const {
  const at::Tensor& first = holder_->first;
  if (!first.defined() || first.device() == device) return *this;
  return Map([&](const at::Tensor& tensor) {
    return tensor.to(device, /*non_blocking=*/true);
  });
}

AnyBatch AnyBatch::PinMemory() const {
  return Map([](const at::Tensor& tensor) {
    return tensor.is_cpu() ? tensor.pin_memory() : tensor;
  });
}

AnyBatch AnyBatch::Slice(int64_t begin, int64_t end) const {
  const int64_t rows = RowsOf(holder_->first);
  TORCH_CHECK_VALUE(0 <= begin && begin <= end && end <= rows, "rows ", begin,
                    " to ", end, " are not in a batch of ", rows);
  TORCH_CHECK_VALUE(padding_ == 0 || end <= rows - padding_, "rows ", begin,
                    " to ", end, " of a batch of ", rows, " are padding");
  return holder_->Map([&](const at::Tensor& tensor) {
    TORCH_CHECK_VALUE(tensor.dim() >= 1 && tensor.size(0) == rows,
                      "a batch of type ", TypeName(holder_->type),
                      " has tensors of ", rows, " and of ",
                      tensor.dim() >= 1 ? tensor.size(0) : 0,
                      " rows: it cannot be cut into rows");
    return tensor.narrow(0, begin, end - begin);
  });
}

AnyBatch AnyBatch::WithPadding(int64_t rows) const {
  AnyBatch marked = *this;
  marked.padding_ = rows;
  if (rows != 0) {
    const int64_t all = RowsOf(holder_->first);
    TORCH_CHECK_VALUE(0 < rows && rows <= all, rows,
                      " rows cannot be the padding of a batch of ", all);
    marked.size_ = marked.WithoutPadding().size();
  }
  return marked;
}

AnyBatch AnyBatch::WithoutPadding() const {
  return padding_ == 0 ? *this : Slice(0, RowsOf(holder_->first) - padding_);
}

AnyBatch ConcatBatches(const std::vector<AnyBatch>& batches) {
  TORCH_CHECK_VALUE(!batches.empty(), "ConcatBatches: there is no batch");
  if (batches.size() == 1) return batches.front();
  const AnyBatch::Base& first = *batches.front().holder_;
  std::vector<std::vector<at::Tensor>> columns;
  for (const AnyBatch& batch : batches) {
    TORCH_CHECK_TYPE(batch.holder_->type == first.type,
                     "ConcatBatches: batches are of type ",
                     AnyBatch::TypeName(first.type), " and ",
                     AnyBatch::TypeName(batch.holder_->type));
    TORCH_CHECK_VALUE(batch.holder_->Layout() == first.Layout(),
                      "ConcatBatches: one batch has the tensors ",
                      first.Layout(), ", another ", batch.holder_->Layout());
    TORCH_CHECK_VALUE(batch.padding() == 0, "ConcatBatches: a batch is padded");
    const std::vector<at::Tensor> tensors = batch.tensors();
    columns.resize(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].defined()) columns[i].push_back(tensors[i]);
    }
  }
  std::erase_if(columns, [](const auto& column) { return column.empty(); });
  for (const auto& column : columns) {
    TORCH_CHECK_VALUE(column.size() == batches.size(), "ConcatBatches: only ",
                      column.size(), " of ", batches.size(),
                      " batches have one of the tensors");
  }
  size_t next = 0;
  return first.Map([&](const at::Tensor&) { return at::cat(columns[next++]); });
}

}  // namespace trainyard
