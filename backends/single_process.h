// The backend of one process on one device, in the precision of its tensors.
#ifndef TRAINYARD_BACKENDS_SINGLE_PROCESS_H_
#define TRAINYARD_BACKENDS_SINGLE_PROCESS_H_

#include <c10/core/Device.h>

#include <memory>

#include "backends/backend.h"

namespace trainyard {

std::unique_ptr<Backend> MakeSingleProcessBackend(at::Device device);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SINGLE_PROCESS_H_
