// For builds without CUDA.
#include <c10/util/Exception.h>

#include "backends/processes/nccl.h"

namespace trainyard {

c10::intrusive_ptr<c10d::Backend> MakeNccl(
    const c10::intrusive_ptr<c10d::Store>&, const Rendezvous&,
    std::chrono::milliseconds) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "this program was built without NCCL; build with --config=cuda");
}

}  // namespace trainyard
