#include "backends/sharded/chunk_layout.h"

#include <ATen/core/grad_mode.h>

#include <cstring>

namespace trainyard {
namespace {

bool IsPlain(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.scalar_type() == at::kFloat &&
         tensor.is_contiguous();
}

// For small tensors a kernel call costs more than the copy.
void CopyScaled(const at::Tensor& from, double scale, const at::Tensor& to) {
  if (!IsPlain(from) || !IsPlain(to)) {
    to.copy_(from);
    if (scale != 1) to.mul_(scale);
    return;
  }
  const int64_t count = from.numel();
  if (count == 0) return;
  const auto* const source = from.const_data_ptr<float>();
  auto* const target = to.mutable_data_ptr<float>();
  if (scale == 1) {
    std::memcpy(target, source, static_cast<size_t>(count) * sizeof(float));
    return;
  }
  const auto factor = static_cast<float>(scale);
  for (int64_t i = 0; i < count; ++i) target[i] = source[i] * factor;
}

}  // namespace

ChunkLayout::ChunkLayout(const std::vector<at::Tensor>& tensors,
                         const ShardLayout& layout)
    : layout_(layout) {
  for (const at::Tensor& tensor : tensors) {
    numels_.push_back(tensor.numel());
    places_.push_back(flags_);
    flags_ += layout_.Largest(tensor.numel());
  }
  const int64_t used = flags_ + static_cast<int64_t>(tensors.size());
  chunk_ =
      (used + ShardLayout::kUnit - 1) / ShardLayout::kUnit * ShardLayout::kUnit;
}

void ChunkLayout::Cut(size_t i, const at::Tensor& values, double scale,
                      at::Tensor& buffer) const {
  const at::Tensor flat = values.reshape({-1});
  const int64_t largest = layout_.Largest(numels_[i]);
  for (int64_t rank = 0; rank < layout_.ranks(); ++rank) {
    const ShardRange range = layout_.RangeOf(numels_[i], rank);
    const at::Tensor row = buffer.select(0, rank);
    CopyScaled(flat.narrow(0, range.begin, range.count), scale,
               row.narrow(0, places_[i], range.count));
    if (range.count < largest) {
      row.narrow(0, places_[i] + range.count, largest - range.count).zero_();
    }
  }
}

void ChunkLayout::CutZeros(size_t i, at::Tensor& buffer) const {
  buffer.narrow(1, places_[i], layout_.Largest(numels_[i])).zero_();
}

void ChunkLayout::SetFlag(size_t i, bool value, at::Tensor& buffer) const {
  buffer.select(1, flags_ + static_cast<int64_t>(i)).fill_(value ? 1 : 0);
}

std::vector<float> ChunkLayout::Flags(const at::Tensor& row) const {
  const auto count = static_cast<int64_t>(numels_.size());
  const at::Tensor flags =
      row.narrow(0, flags_, count).to(at::kCPU, at::kFloat).contiguous();
  const auto* const values = flags.const_data_ptr<float>();
  return {values, values + count};
}

void ChunkLayout::Put(size_t i, int64_t rank, const at::Tensor& slice,
                      at::Tensor& row) const {
  CopyScaled(slice, 1, SliceIn(i, rank, row));
}

at::Tensor ChunkLayout::SliceIn(size_t i, int64_t rank,
                                const at::Tensor& row) const {
  return row.narrow(0, places_[i], layout_.RangeOf(numels_[i], rank).count);
}

void ChunkLayout::Join(size_t i, const at::Tensor& buffer,
                       const at::Tensor& whole, int64_t except) const {
  Join(i, buffer.unbind(0), whole, except);
}

void ChunkLayout::Join(size_t i, const std::vector<at::Tensor>& rows,
                       const at::Tensor& whole, int64_t except) const {
  const at::Tensor flat = whole.view({-1});
  for (int64_t rank = 0; rank < layout_.ranks(); ++rank) {
    if (rank == except) continue;
    const ShardRange range = layout_.RangeOf(numels_[i], rank);
    CopyScaled(SliceIn(i, rank, rows[static_cast<size_t>(rank)]), 1,
               flat.narrow(0, range.begin, range.count));
  }
}

}  // namespace trainyard
