#include "backends/grad_scaler.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <limits>
#include <map>

namespace trainyard {

GradScaler::GradScaler(at::Device device, const GradScalerOptions& options)
    : options_(options),
      scale_(at::full({}, options.init_scale, device)),
      growth_tracker_(at::zeros({}, at::device(device).dtype(at::kInt))),
      host_scale_(static_cast<float>(options.init_scale)) {
  TORCH_CHECK_VALUE(options.init_scale > 0 && std::isfinite(options.init_scale),
                    "GradScaler: init_scale is ", options.init_scale);
  TORCH_CHECK_VALUE(
      options.growth_factor > 1 && std::isfinite(options.growth_factor),
      "GradScaler: growth_factor is ", options.growth_factor);
  TORCH_CHECK_VALUE(options.backoff_factor > 0 && options.backoff_factor < 1,
                    "GradScaler: backoff_factor is ", options.backoff_factor);
  TORCH_CHECK_VALUE(
      options.growth_interval >= 1 &&
          options.growth_interval <= std::numeric_limits<int32_t>::max(),
      "GradScaler: growth_interval is ", options.growth_interval);
}

double GradScaler::scale() const {
  if (!host_scale_) host_scale_ = scale_.item<float>();
  return *host_scale_;
}

const at::Tensor* GradScaler::Find(const Optimizer& optimizer) const {
  for (const auto& [known, found] : found_inf_) {
    if (known == &optimizer) return &found;
  }
  return nullptr;
}

void GradScaler::Unscale(Optimizer& optimizer) {
  TORCH_CHECK_VALUE(Find(optimizer) == nullptr,
                    "GradScaler: the optimizer's gradients are already "
                    "unscaled; call Update between two windows");
  const at::NoGradGuard no_gradients;
  // A backend may keep gradients on the CPU.
  std::map<std::pair<at::ScalarType, at::DeviceType>, std::vector<at::Tensor>>
      by_kind;
  for (const at::Tensor& gradient : optimizer.Gradients()) {
    TORCH_CHECK_VALUE(gradient.scalar_type() != at::kHalf,
                      "GradScaler: a gradient is in fp16, where unscaling "
                      "loses what scaling saved; keep parameters in fp32");
    by_kind[{gradient.scalar_type(), gradient.device().type()}].push_back(
        gradient.is_sparse() ? gradient._values() : gradient);
  }
  at::Tensor found = at::zeros({}, scale_.options());
  // The reciprocal in double precision, as Python takes it.
  const at::Tensor inverse =
      scale_.is_cpu() ? at::full({}, 1 / scale(), scale_.options())
                      : scale_.to(at::kDouble).reciprocal().to(at::kFloat);
  for (auto& [kind, gradients] : by_kind) {
    const at::Device device = gradients[0].device();
    if (device == scale_.device()) {
      at::_amp_foreach_non_finite_check_and_unscale_(gradients, found, inverse);
      continue;
    }
    at::Tensor found_there = at::zeros({}, scale_.options().device(device));
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_there,
                                                   inverse.to(device));
    found = at::maximum(found, found_there.to(scale_.device()));
  }
  found_inf_.emplace_back(&optimizer, found);
}

const at::Tensor& GradScaler::FoundInf(const Optimizer& optimizer) const {
  const at::Tensor* const found = Find(optimizer);
  TORCH_CHECK_VALUE(found != nullptr,
                    "GradScaler: the optimizer's gradients were not unscaled");
  return *found;
}

bool GradScaler::AllFinite(const Optimizer& optimizer) const {
  return FoundInf(optimizer).item<float>() == 0;
}

void GradScaler::SetAllFinite(const Optimizer& optimizer, bool finite) {
  for (auto& [known, found] : found_inf_) {
    if (known == &optimizer) found.fill_(finite ? 0 : 1);
  }
}

void GradScaler::Update() {
  if (found_inf_.empty()) return;
  at::Tensor found = found_inf_.front().second;
  for (size_t i = 1; i < found_inf_.size(); ++i) {
    found = found.add(found_inf_[i].second);
  }
  found_inf_.clear();
  at::_amp_update_scale_(scale_, growth_tracker_, found, options_.growth_factor,
                         options_.backoff_factor, options_.growth_interval);
  host_scale_.reset();
}

State GradScaler::SaveState() const {
  State state;
  state.Set("scale", scale());
  state.Set("growth_tracker", growth_tracker_.item<int64_t>());
  return state;
}

void GradScaler::LoadState(const State& state) {
  state.CheckVersion(1);
  const double scale = state.Get<double>("scale");
  const int64_t tracker = state.Get<int64_t>("growth_tracker");
  TORCH_CHECK_VALUE(scale > 0 && std::isfinite(scale),
                    "GradScaler: the saved scale is ", scale);
  TORCH_CHECK_VALUE(tracker >= 0, "GradScaler: the saved growth_tracker is ",
                    tracker);
  scale_.fill_(scale);
  growth_tracker_.fill_(tracker);
  host_scale_ = scale;
  found_inf_.clear();
}

}  // namespace trainyard
