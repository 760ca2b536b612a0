// MakeBackend makes a backend by its name:
//
//   sp        one process, one device: the first accelerator if there is one,
//             else the CPU; an error under a launcher of several processes
//   sp-amp    the same in mixed precision
//   ddp       one of several processes that train together, each on its own
//             CUDA device or all on the CPU; started by tools/launch, torchrun,
//             mpirun or srun
//   ddp-amp   the same in mixed precision
//   zero1, zero1-amp, zero2, zero2-amp
//             like ddp, with the state of the optimizer (zero2: and the
//             gradients) sharded over the processes
//   fsdp, fsdp-amp
//             like zero2, with the parameters sharded, too
//
//   const auto backend = MakeBackend("sp-amp", {.amp = {.dtype = at::kHalf}});
//
// A program that never trains in several processes can call MakeSingleBackend.
#ifndef TRAINYARD_BACKENDS_MAKE_BACKEND_H_
#define TRAINYARD_BACKENDS_MAKE_BACKEND_H_

#include <c10/core/Device.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "backends/amp.h"
#include "backends/backend.h"
#include "backends/ddp.h"
#include "backends/processes/rendezvous.h"
#include "backends/sharded/fsdp.h"
#include "backends/sharded/zero.h"

namespace trainyard {

struct BackendOptions {
  // Unset: CUDA if there is any (of several processes each has the device with
  // the number of its local rank), else the CPU.
  std::optional<at::Device> device = std::nullopt;
  // For names that end in "-amp".
  AmpOptions amp = {};
  // For names that begin with "ddp".
  DdpOptions ddp = {};
  // For names that begin with "zero"; the name decides on the stage.
  ZeroOptions zero = {};
  // For names that begin with "fsdp".
  FsdpOptions fsdp = {};
  // How long one of several processes waits for another one.
  std::chrono::milliseconds timeout = std::chrono::minutes(2);
  // How several processes find each other. Unset: from the variables of the
  // launcher.
  std::optional<Rendezvous> rendezvous = std::nullopt;
};

// Throws c10::ValueError for another name, with the names there are. Unless the
// name begins with "sp" collective: all ranks must call it.
std::unique_ptr<Backend> MakeBackend(const std::string& name,
                                     const BackendOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_MAKE_BACKEND_H_
