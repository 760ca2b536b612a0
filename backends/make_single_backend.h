// MakeSingleBackend makes a backend for one process by its name, sp or sp-amp,
// as MakeBackend does. A program that calls it links no other backends: it is
// smaller, and compiles faster.
//
//   const auto backend =
//       MakeSingleBackend("sp-amp", {.amp = {.dtype = at::kHalf}});
//
// Thread-safe.
#ifndef TRAINYARD_BACKENDS_MAKE_SINGLE_BACKEND_H_
#define TRAINYARD_BACKENDS_MAKE_SINGLE_BACKEND_H_

#include <c10/core/Device.h>

#include <memory>
#include <optional>
#include <string>

#include "backends/amp.h"
#include "backends/backend.h"

namespace trainyard {

struct SingleBackendOptions {
  // Unset: CUDA if there is any, else the CPU.
  std::optional<at::Device> device = std::nullopt;
  // For sp-amp.
  AmpOptions amp = {};
};

// Throws c10::ValueError for another name, and under a launcher that started
// several processes: each would train a model of its own.
std::unique_ptr<Backend> MakeSingleBackend(
    const std::string& name, const SingleBackendOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_MAKE_SINGLE_BACKEND_H_
