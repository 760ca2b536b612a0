// MakeBackend makes a backend by its name:
//
//   sp        one process, one device: the first CUDA device if there is one,
//             else the CPU
//   sp-amp    the same in mixed precision
//
//   const auto backend = MakeBackend("sp-amp", {.amp = {.dtype = at::kHalf}});
#ifndef TRAINYARD_BACKENDS_MAKE_BACKEND_H_
#define TRAINYARD_BACKENDS_MAKE_BACKEND_H_

#include <c10/core/Device.h>

#include <memory>
#include <optional>
#include <string>

#include "backends/amp.h"
#include "backends/backend.h"

namespace trainyard {

struct BackendOptions {
  // None: CUDA if there is any, else the CPU.
  std::optional<at::Device> device = std::nullopt;
  // For names that end in "-amp".
  AmpOptions amp = {};
};

// Throws, listing the names there are, for any other name.
std::unique_ptr<Backend> MakeBackend(const std::string& name,
                                     const BackendOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_MAKE_BACKEND_H_
