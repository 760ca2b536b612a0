#include "callbacks/printing/late_values.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace trainyard {

void LateValues::Start(const Tensors& tensors) {
  if (host_.defined()) return;
  const at::NoGradGuard no_gradients;
  names_.clear();
  at::Device device = at::kCPU;
  std::vector<at::Tensor> numbers;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined() || tensor.numel() != 1) continue;
    names_.push_back(name);
    numbers.push_back(tensor.detach().reshape({1}).to(at::kDouble));
    if (!tensor.is_cpu()) device = tensor.device();
  }
  if (numbers.empty()) {
    host_ = at::empty({0}, at::kDouble);
    return;
  }
  // A task may leave a metric on the CPU.
  for (at::Tensor& number : numbers) {
    number = number.to(device, /*non_blocking=*/true);
  }
  const at::Tensor all = at::cat(numbers);
  if (device.is_cpu()) {
    host_ = all;
    return;
  }
  host_ = at::empty(all.sizes(),
                    at::TensorOptions(at::kDouble).pinned_memory(true));
  host_.copy_(all, /*non_blocking=*/true);
  copied_.emplace(device.type());
  copied_->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
}

std::optional<LateValues::Values> LateValues::Take() {
  if (!host_.defined() || (copied_ && !copied_->query())) return std::nullopt;
  Values values;
  const double* const numbers = host_.const_data_ptr<double>();
  for (size_t i = 0; i < names_.size(); ++i) {
    values.emplace_back(names_[i], numbers[i]);
  }
  Drop();
  return values;
}

void LateValues::Drop() {
  host_.reset();
  copied_.reset();
}

}  // namespace trainyard
