#include "backends/make_backend.h"

#include <ATen/Context.h>
#include <c10/util/Exception.h>

#include "backends/single_process.h"

namespace trainyard {

std::unique_ptr<Backend> MakeBackend(const std::string& name,
                                     const BackendOptions& options) {
  const auto single = [&] {
    return MakeSingleProcessBackend(options.device.value_or(
        at::hasCUDA() ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)));
  };
  if (name == "sp") return single();
  if (name == "sp-amp") return MakeAmpBackend(single(), options.amp);
  TORCH_CHECK_VALUE(false, "there is no backend \"", name,
                    "\"; there are: sp, sp-amp");
}

}  // namespace trainyard
