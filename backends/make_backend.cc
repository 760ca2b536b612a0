#include "backends/make_backend.h"

#include <ATen/Context.h>
#include <c10/util/Exception.h>

#include "backends/single_process.h"

namespace trainyard {

std::unique_ptr<Backend> MakeBackend(const std::string& name) {
  TORCH_CHECK_VALUE(name == "sp", "there is no backend \"", name,
                    "\"; there are: sp");
  return MakeSingleProcessBackend(at::hasCUDA() ? at::Device(at::kCUDA, 0)
                                                : at::Device(at::kCPU));
}

}  // namespace trainyard
