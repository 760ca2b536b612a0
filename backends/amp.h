// The amp backend adds mixed precision to another backend: forward passes
// compute in half precision where that is safe. For fp16 it also scales the
// losses, so that small gradients do not become 0. Gradients are always
// unscaled before they are clipped or read.
//
//   auto backend = MakeAmpBackend(MakeSingleProcessBackend(at::kCPU),
//                                 {.dtype = at::kBFloat16});
//
// There is one scale for all losses; only the optimizer whose gradients
// overflow skips its step. On an accelerator an optimizer that can
// (Optimizer::skips_on_device) does so by a flag on the device: nobody waits,
// and the host knows a window later (Backend::ReadOutcome). Thread-compatible.
#ifndef TRAINYARD_BACKENDS_AMP_H_
#define TRAINYARD_BACKENDS_AMP_H_

#include <c10/core/ScalarType.h>

#include <memory>
#include <optional>

#include "backends/backend.h"
#include "backends/grad_scaler.h"

namespace trainyard {

struct AmpOptions {
  // kBFloat16 or kHalf. Unset: kBFloat16 on the CPU, kHalf elsewhere, as in
  // Python.
  std::optional<c10::ScalarType> dtype = std::nullopt;
  // For kHalf. bfloat16 has the range of float and needs no scaling.
  GradScalerOptions scaler = {};
};

// The name of the result is that of `backend` with "-amp" added. Throws
// c10::ValueError for another dtype, or if there is no backend. Rank 0
// warns if the CPU has no instructions for bfloat16: see SlowBf16Warning.
std::unique_ptr<Backend> MakeAmpBackend(std::unique_ptr<Backend> backend,
                                        const AmpOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_AMP_H_
