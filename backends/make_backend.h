// MakeBackend makes a backend by its name:
//
//   sp    one process, one device: the first CUDA device if there is one, else
//   the CPU
#ifndef TRAINYARD_BACKENDS_MAKE_BACKEND_H_
#define TRAINYARD_BACKENDS_MAKE_BACKEND_H_

#include <memory>
#include <string>

#include "backends/backend.h"

namespace trainyard {

// Throws, listing the names there are, for any other name.
std::unique_ptr<Backend> MakeBackend(const std::string& name);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_MAKE_BACKEND_H_
