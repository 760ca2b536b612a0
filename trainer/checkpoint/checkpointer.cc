#include "trainer/checkpoint/checkpointer.h"

#include <absl/strings/str_cat.h>

#include <memory>
#include <variant>

#include "trainer/checkpoint/parts/has_nan.h"

namespace trainyard {

absl::Status CheckSavable(const Checkpoint& checkpoint) {
  if (checkpoint.step < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the step of the checkpoint is ", checkpoint.step,
                     "; it must be at least 0"));
  }
  // Undefined and sparse tensors are left to Save.
  const auto is_dense = [](const at::Tensor& tensor) {
    return tensor.defined() && tensor.layout() == at::kStrided;
  };
  for (const auto& [group, tensors] : checkpoint.tensors) {
    for (const NamedTensor& item : tensors) {
      if (!is_dense(item.tensor)) continue;
      const absl::Status status =
          CheckNoNan(group, {item.name, item.tensor.cpu().contiguous()});
      if (!status.ok()) return status;
    }
  }
  for (const auto& [group, slices] : checkpoint.slices) {
    for (const TensorSlice& slice : slices) {
      const absl::Status status =
          CheckNoNan(group, {slice.name, slice.values.cpu()});
      if (!status.ok()) return status;
    }
  }
  for (const auto& [part, state] : checkpoint.parts) {
    for (const auto& [name, value] : state.values()) {
      const auto* const tensor =
          std::get_if<std::shared_ptr<const at::Tensor>>(&value);
      if (tensor == nullptr || part == kGradientsPart) continue;
      if (!is_dense(**tensor)) continue;
      const absl::Status status =
          CheckNoNan(part, {name, (*tensor)->cpu().contiguous()});
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace trainyard
