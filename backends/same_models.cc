#include "backends/same_models.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <torch/csrc/distributed/c10d/comm.hpp>

#include "backends/gather_text.h"

namespace trainyard {
namespace {

// A line for each tensor.
std::string Describe(const std::vector<ModelTensors>& models) {
  std::ostringstream text;
  for (const ModelTensors& model : models) {
    const auto line = [&](const NamedTensor& item, const char* kind) {
      text << model.name << "." << item.name << ": " << kind << " "
           << item.tensor.scalar_type() << " " << item.tensor.sizes()
           << (item.tensor.requires_grad() ? "" : " without gradient") << "\n";
    };
    for (const NamedTensor& item : model.parameters) line(item, "parameter");
    for (const NamedTensor& item : model.buffers) line(item, "buffer");
  }
  return text.str();
}

// Takes the first line off, without its end. Empty: there is none.
std::string_view NextLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

std::string_view OrNothing(std::string_view line) {
  return line.empty() ? "no more tensors" : line;
}

void Compare(std::string_view first, std::string_view other, size_t rank) {
  while (!first.empty() || !other.empty()) {
    const std::string_view a = NextLine(first);
    const std::string_view b = NextLine(other);
    TORCH_CHECK_VALUE(a == b, "the models of rank 0 and rank ", rank,
                      " differ:\n  rank 0: ", OrNothing(a), "\n  rank ", rank,
                      ": ", OrNothing(b));
  }
}

}  // namespace

void CheckSameModels(Collectives& collectives,
                     const std::vector<ModelTensors>& models) {
  const std::vector<std::string> all =
      GatherText(collectives, Describe(models));
  for (size_t rank = 1; rank < all.size(); ++rank) {
    Compare(all[0], all[rank], rank);
  }
}

void CopyTensors(ProcessGroup& group, std::vector<at::Tensor> tensors) {
  if (tensors.empty()) return;
  const at::NoGradGuard no_gradients;
  constexpr size_t kAtOnce = size_t{64} << 20;
  group.Guard("copying the models", [&] {
    c10d::broadcast_coalesced(group.training(), tensors, kAtOnce, /*rank=*/0);
  });
}

}  // namespace trainyard
