#include "backends/make_single_backend.h"

#include <c10/util/Exception.h>

#include <utility>

#include "backends/processes/rendezvous.h"
#include "backends/single_process.h"
#include "trainer/accelerator.h"

namespace trainyard {

std::unique_ptr<Backend> MakeSingleBackend(
    const std::string& name, const SingleBackendOptions& options) {
  const bool amp = name == "sp-amp";
  TORCH_CHECK_VALUE(amp || name == "sp", "there is no backend \"", name,
                    "\" for one process; there are: sp and sp-amp; "
                    "MakeBackend also makes those for several processes");
  const int64_t launched = LaunchedProcesses();
  TORCH_CHECK_VALUE(launched == 1, "the backend \"", name,
                    "\" is for one process, but a launcher started ", launched,
                    ": each would train a model of its own; use \"ddp",
                    name.substr(2),
                    "\" to train one together, or MakeSingleProcessBackend if "
                    "that is what you want");
  const at::Device device = options.device ? *options.device : DefaultDevice(0);
  MakeCurrent(device);
  auto backend = MakeSingleProcessBackend(device);
  if (!amp) return backend;
  return MakeAmpBackend(std::move(backend), options.amp);
}

}  // namespace trainyard
