// For builds without CUDA.
#include <c10/util/Exception.h>

#include "backends/cuda_graph.h"
#include "backends/step_graph.h"

namespace trainyard {

const bool kHasCudaGraph = false;

std::unique_ptr<StepGraph> MakeCudaGraph(at::Device) {
  C10_THROW_ERROR(NotImplementedError,
                  "this program was built without CUDA; build with "
                  "--config=cuda");
}

}  // namespace trainyard
