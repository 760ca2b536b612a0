// ChunkLayout places the slices of several tensors in chunks, one for each
// rank, so that one collective exchanges them all. A buffer is [ranks, chunk]:
// row r has what belongs to rank r. The slice of a tensor is at the same place
// in every row.
//
//   const ChunkLayout chunks({weight, bias}, layout);
//   at::Tensor buffer = at::empty({layout.ranks(), chunks.chunk()});
//   chunks.Cut(0, weight, /*scale=*/1, buffer);
//   chunks.Join(0, buffer, weight);  // the inverse
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_SHARDED_CHUNK_LAYOUT_H_
#define TRAINYARD_BACKENDS_SHARDED_CHUNK_LAYOUT_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/sharded/shard_layout.h"

namespace trainyard {

class ChunkLayout {
 public:
  // Keeps the sizes of the tensors, not the tensors. Every chunk has a flag for
  // each tensor behind the slices.
  ChunkLayout(const std::vector<at::Tensor>& tensors,
              const ShardLayout& layout);

  // The elements of a row.
  int64_t chunk() const { return chunk_; }
  size_t size() const { return numels_.size(); }

  // Writes `values` times `scale`, which has the size of tensor `i`, to all
  // rows. Values that are missing in a row are set to 0.
  void Cut(size_t i, const at::Tensor& values, double scale,
           at::Tensor& buffer) const;
  // Writes zeros in the place of tensor `i`.
  void CutZeros(size_t i, at::Tensor& buffer) const;
  // Sets the flag of tensor `i` in all rows.
  void SetFlag(size_t i, bool value, at::Tensor& buffer) const;
  // The flags of all tensors in a row, on the CPU.
  std::vector<float> Flags(const at::Tensor& row) const;

  // Writes this rank's slice of tensor `i` to its row.
  void Put(size_t i, int64_t rank, const at::Tensor& slice,
           at::Tensor& row) const;
  // The slice of tensor `i` in the row of a rank. Shares its memory.
  at::Tensor SliceIn(size_t i, int64_t rank, const at::Tensor& row) const;

  // Writes the slices of tensor `i` of all ranks into `whole`, a contiguous
  // tensor; not that of rank `except`.
  void Join(size_t i, const at::Tensor& buffer, const at::Tensor& whole,
            int64_t except = -1) const;
  // The same from rows that are not in one buffer.
  void Join(size_t i, const std::vector<at::Tensor>& rows,
            const at::Tensor& whole, int64_t except = -1) const;

 private:
  ShardLayout layout_;
  std::vector<int64_t> numels_;
  std::vector<int64_t> places_;
  int64_t flags_ = 0;
  int64_t chunk_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARDED_CHUNK_LAYOUT_H_
