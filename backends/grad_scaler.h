// GradScaler keeps small gradients from becoming 0 in fp16. It multiplies
// losses by a scale and divides gradients by it. A step whose gradients are not
// all finite is skipped, and lowers the scale; steps in a row without one raise
// it. The formula is that of Python's torch.amp.GradScaler.
//
//   GradScaler scaler(at::kCPU);
//   loss.mul(scaler.scale()).backward();
//   scaler.Unscale(optimizer);
//   // The gradients are unscaled now: clip them here.
//   if (scaler.AllFinite(optimizer)) optimizer.step();
//   scaler.Update();  // once, after all optimizers
//
// On an accelerator scale() and AllFinite wait for the device. The same without
// a wait, for an optimizer that can skip a step on the device:
//
//   loss.mul(scaler.DeviceScale()).backward();
//   scaler.Unscale(optimizer);
//   optimizer.StepUnless(scaler.FoundInf(optimizer));
//   scaler.Update();
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_GRAD_SCALER_H_
#define TRAINYARD_BACKENDS_GRAD_SCALER_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/optim/optimizer.h"
#include "trainer/state.h"

namespace trainyard {

struct GradScalerOptions {
  // REQUIRES: > 0 and finite.
  double init_scale = 65536;
  // The scale is multiplied by it after `growth_interval` updates in a row
  // with finite gradients. REQUIRES: > 1.
  double growth_factor = 2;
  // The scale is multiplied by it after an update with a gradient that is not
  // finite. REQUIRES: in (0, 1).
  double backoff_factor = 0.5;
  // REQUIRES: >= 1.
  int64_t growth_interval = 2000;
};

class GradScaler final : public Stateful {
 public:
  explicit GradScaler(at::Device device, const GradScalerOptions& options = {});

  // The factor of the losses. The first call after Update waits for the device.
  double scale() const;
  // The same as a scalar on the device.
  const at::Tensor& DeviceScale() const { return scale_; }

  // Divides the optimizer's gradients by the scale, in place. REQUIRES: called
  // once per optimizer between two calls of Update; gradients are not in fp16.
  void Unscale(Optimizer& optimizer);

  // Whether all gradients were finite when they were unscaled. Waits for the
  // device. REQUIRES: Unscale was called.
  bool AllFinite(const Optimizer& optimizer) const;

  // The same on the device: a float, 1 if a gradient was not finite, else 0.
  // REQUIRES: Unscale was called.
  const at::Tensor& FoundInf(const Optimizer& optimizer) const;

  // Replaces what Unscale found, for ranks that each have a part of the
  // gradients and agree. REQUIRES: Unscale was called.
  void SetAllFinite(const Optimizer& optimizer, bool finite);

  // Sets the scale for the next window, from the gradients of all optimizers
  // that were unscaled since the last call. Does nothing if there was none.
  void Update();

  State SaveState() const override;
  void LoadState(const State& state) override;

 private:
  const at::Tensor* Find(const Optimizer& optimizer) const;

  GradScalerOptions options_;
  at::Tensor scale_;
  at::Tensor growth_tracker_;
  // Unset: not read yet.
  mutable std::optional<double> host_scale_;
  // 1 where a gradient was not finite, else 0; by optimizer.
  std::vector<std::pair<const Optimizer*, at::Tensor>> found_inf_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_GRAD_SCALER_H_
