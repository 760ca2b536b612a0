#include "trainer/data/transforms/pad_to_longest.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace trainyard {

at::Tensor PaddedSequences::Mask() const {
  return at::arange(values.size(1), lengths.options())
      .unsqueeze(0)
      .lt(lengths.unsqueeze(1));
}

PaddedSequences PadToLongest(const std::vector<at::Tensor>& sequences,
                             const PadToLongestOptions& options) {
  TORCH_CHECK_VALUE(!sequences.empty(), "PadToLongest: there is no sequence");
  TORCH_CHECK_VALUE(options.multiple_of >= 1, "PadToLongest: multiple_of is ",
                    options.multiple_of, "; it must be at least 1");
  const at::Tensor& first = sequences.front();
  std::vector<int64_t> lengths;
  for (const at::Tensor& sequence : sequences) {
    TORCH_CHECK_VALUE(sequence.defined() && sequence.dim() >= 1,
                      "PadToLongest: a sequence has no length");
    TORCH_CHECK_VALUE(sequence.sizes().slice(1) == first.sizes().slice(1) &&
                          sequence.scalar_type() == first.scalar_type(),
                      "PadToLongest: sequences of ", first.scalar_type(),
                      first.sizes(), " and ", sequence.scalar_type(),
                      sequence.sizes(), " differ in more than their length");
    lengths.push_back(sequence.size(0));
  }
  const int64_t longest = *std::ranges::max_element(lengths);
  std::vector<int64_t> shape = first.sizes().vec();
  shape[0] = (longest + options.multiple_of - 1) / options.multiple_of *
             options.multiple_of;
  shape.insert(shape.begin(), static_cast<int64_t>(sequences.size()));
  const at::Tensor values = at::full(shape, options.value, first.options());
  for (size_t i = 0; i < sequences.size(); ++i) {
    values.select(0, static_cast<int64_t>(i))
        .narrow(0, 0, lengths[i])
        .copy_(sequences[i]);
  }
  return {values, at::tensor(lengths)};
}

}  // namespace trainyard
