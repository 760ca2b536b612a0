#include "trainer/checkpoint/slice_files.h"

#include <ATen/ops/cat.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

// The number of elements; unset if it does not fit into 63 bits.
std::optional<int64_t> CountOf(const std::vector<int64_t>& sizes) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t count = 1;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  for (const int64_t size : sizes) {
    if (size < 0 || count > kMost / size) return std::nullopt;
    count *= size;
  }
  return count;
}

}  // namespace

std::string SliceFileName(const std::string& group, int rank) {
  return absl::StrFormat("%s-slices-r%05d.safetensors", group, rank);
}

std::vector<NamedTensor> WrittenSlices(const std::vector<TensorSlice>& slices) {
  std::vector<NamedTensor> written;
  for (const TensorSlice& slice : slices) {
    const bool first_of_nothing = slice.begin == 0 && CountOf(slice.sizes) == 0;
    if (slice.values.numel() > 0 || first_of_nothing) {
      written.push_back({slice.name, slice.values});
    }
  }
  return written;
}

void DescribeSlices(const std::vector<TensorSlice>& slices,
                    pb::FileEntry& file) {
  std::map<std::string_view, const TensorSlice*> by_name;
  for (const TensorSlice& slice : slices) by_name[slice.name] = &slice;
  for (pb::TensorEntry& entry : *file.mutable_tensors()) {
    const TensorSlice& slice = *by_name.at(entry.name());
    pb::SliceEntry& described = *entry.mutable_slice();
    for (const int64_t size : slice.sizes) {
      described.add_sizes(static_cast<uint64_t>(size));
    }
    described.set_begin(static_cast<uint64_t>(slice.begin));
  }
}

absl::Status SliceJoin::Finish(std::vector<NamedTensor>& tensors) {
  for (auto& [name, slices] : slices_) {
    const auto bad = [&, &tensor = name](const char* why) {
      return absl::DataLossError(absl::StrCat("the slices of ",
                                              QuotedName(tensor), " in ",
                                              QuotedName(group_), " ", why));
    };
    std::sort(slices.begin(), slices.end(),
              [](const TensorSlice& a, const TensorSlice& b) {
                return a.begin < b.begin;
              });
    const TensorSlice& first = slices.front();
    int64_t next = 0;
    std::vector<at::Tensor> values;
    for (const TensorSlice& slice : slices) {
      if (slice.sizes != first.sizes || slice.values.dim() != 1 ||
          slice.values.scalar_type() != first.values.scalar_type()) {
        return bad("differ in shape or type");
      }
      // An empty tensor may have been written by every rank.
      if (slice.begin != next) return bad("overlap or have gaps");
      next += slice.values.numel();
      values.push_back(slice.values);
    }
    // Checked before anything of the shape's size is made: only what is in the
    // files is allocated.
    if (CountOf(first.sizes) != next) return bad("are not complete");
    tensors.push_back({name, at::cat(values).reshape(first.sizes)});
    slices.clear();  // frees its memory before the next one is joined
  }
  slices_.clear();
  return absl::OkStatus();
}

}  // namespace trainyard
