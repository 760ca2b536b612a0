// The amp backend adds mixed precision to another backend: forward passes
// compute in half precision where that is safe, and for fp16 losses are scaled
// so that small gradients do not vanish. Gradients are unscaled, always, before
// anybody sees or clips them.
//
//   auto backend = MakeAmpBackend(MakeSingleProcessBackend(at::kCPU),
//                                 {.dtype = at::kBFloat16});
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_AMP_H_
#define TRAINYARD_BACKENDS_AMP_H_

#include <c10/core/ScalarType.h>

#include <memory>
#include <optional>

#include "backends/backend.h"
#include "backends/grad_scaler.h"

namespace trainyard {

struct AmpOptions {
  // kBFloat16 or kHalf. None: kHalf on CUDA, kBFloat16 on the CPU, as in
  // Python.
  std::optional<c10::ScalarType> dtype = std::nullopt;
  // Used for kHalf: bfloat16 has float's range and needs no scaling.
  GradScalerOptions scaler = {};
};

// Its name is the other one's with "-amp" after it.
std::unique_ptr<Backend> MakeAmpBackend(std::unique_ptr<Backend> backend,
                                        const AmpOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_AMP_H_
