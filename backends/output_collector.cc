#include "backends/output_collector.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <iterator>

namespace trainyard {
namespace {

// What a rank has collected: for each position the type and shape of a row, and
// the number of rows of each step.
struct Layout {
  std::vector<std::vector<int64_t>> kinds;  // the type, then the sizes of a row
  std::vector<std::vector<int64_t>> rows;
};

Layout LayoutOf(const std::vector<std::vector<at::Tensor>>& parts) {
  Layout layout;
  for (const auto& steps : parts) {
    const at::Tensor& first = steps.front();
    std::vector<int64_t> kind = {static_cast<int64_t>(first.scalar_type())};
    for (int64_t i = 1; i < first.dim(); ++i) kind.push_back(first.size(i));
    std::vector<int64_t> rows;
    for (const at::Tensor& step : steps) rows.push_back(step.size(0));
    layout.kinds.push_back(kind);
    layout.rows.push_back(rows);
  }
  return layout;
}

void Append(std::vector<int64_t>& numbers, const std::vector<int64_t>& list) {
  numbers.push_back(std::ssize(list));
  numbers.insert(numbers.end(), list.begin(), list.end());
}

at::Tensor Pack(const Layout& layout) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < layout.kinds.size(); ++i) {
    Append(numbers, layout.kinds[i]);
    Append(numbers, layout.rows[i]);
  }
  return at::tensor(numbers, at::kLong);
}

Layout Unpack(const at::Tensor& packed) {
  const auto* next = packed.const_data_ptr<int64_t>();
  const auto* const end = next + packed.numel();
  const auto take = [&next] {
    const int64_t count = *next++;
    std::vector<int64_t> list(next, next + count);
    next += count;
    return list;
  };
  Layout layout;
  while (next != end) {
    layout.kinds.push_back(take());
    layout.rows.push_back(take());
  }
  return layout;
}

// Of no rows.
at::Tensor EmptyOf(const std::vector<int64_t>& kind) {
  std::vector<int64_t> sizes = {0};
  sizes.insert(sizes.end(), kind.begin() + 1, kind.end());
  return at::empty(sizes, static_cast<at::ScalarType>(kind[0]));
}

// The rows of `ranks` step by step, and of each step in rank order.
at::Tensor Interleave(const std::vector<at::Tensor>& ranks,
                      const std::vector<Layout>& layouts, size_t position) {
  std::vector<at::Tensor> parts;
  std::vector<int64_t> taken(ranks.size(), 0);
  bool any = true;
  for (size_t step = 0; any; ++step) {
    any = false;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      if (layouts[rank].rows.empty()) continue;
      const std::vector<int64_t>& rows = layouts[rank].rows[position];
      if (step >= rows.size()) continue;
      any = true;
      parts.push_back(ranks[rank].narrow(0, taken[rank], rows[step]));
      taken[rank] += rows[step];
    }
  }
  return at::cat(parts);
}

}  // namespace

void OutputCollector::Collect(const std::vector<at::Tensor>& outputs) {
  if (parts_.empty()) parts_.resize(outputs.size());
  TORCH_CHECK_VALUE(outputs.size() == parts_.size(),
                    "OutputCollector: ", outputs.size(),
                    " outputs after steps with ", parts_.size());
  for (const at::Tensor& output : outputs) {
    TORCH_CHECK_VALUE(output.defined(), "OutputCollector: an output is empty");
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor output = outputs[i].detach();
    // Copied even from the CPU: the next step may write into the same memory.
    at::Tensor kept = output.is_cpu() ? output.clone() : output.cpu();
    if (kept.dim() == 0) kept = kept.reshape({1});
    if (!parts_[i].empty()) {
      const at::IntArrayRef row = kept.sizes().slice(1),
                            before = parts_[i].front().sizes().slice(1);
      TORCH_CHECK_VALUE(row == before,
                        "OutputCollector: an output has rows of shape ", row,
                        " after steps with ", before);
    }
    parts_[i].push_back(kept);
  }
}

std::vector<at::Tensor> OutputCollector::All() const {
  std::vector<at::Tensor> all;
  for (const auto& parts : parts_) all.push_back(at::cat(parts));
  return all;
}

std::vector<at::Tensor> OutputCollector::AllOf(Collectives& collectives,
                                               Collectives::Place place) const {
  if (collectives.num_processes() == 1) return All();
  std::vector<Layout> layouts;
  for (const at::Tensor& packed :
       collectives.AllGather(Pack(LayoutOf(parts_)), place)) {
    layouts.push_back(Unpack(packed));
  }
  const Layout* any = nullptr;  // of a rank that has collected something
  for (size_t rank = 0; rank < layouts.size(); ++rank) {
    if (layouts[rank].kinds.empty()) continue;
    if (any == nullptr) any = &layouts[rank];
    TORCH_CHECK_VALUE(layouts[rank].kinds == any->kinds,
                      "OutputCollector: the outputs of rank ", rank,
                      " differ from those of rank ", any - layouts.data(),
                      " in number, type or shape of a row");
  }
  std::vector<at::Tensor> all;
  for (size_t i = 0; any != nullptr && i < any->kinds.size(); ++i) {
    const at::Tensor mine =
        parts_.empty() ? EmptyOf(any->kinds[i]) : at::cat(parts_[i]);
    all.push_back(Interleave(collectives.AllGather(mine, place), layouts, i));
  }
  return all;
}

}  // namespace trainyard
