// For builds with --config=cuda.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <exception>

#include "backends/cuda_graph.h"
#include "backends/step_graph.h"

namespace trainyard {
namespace {

class CudaGraph final : public StepGraph {
 public:
  explicit CudaGraph(at::Device device) : device_(device) {}

  void Capture(c10::function_ref<void()> step) override {
    const c10::DeviceGuard guard(device_);
    const c10::impl::VirtualGuardImpl streams(device_.type());
    TORCH_CHECK_VALUE(
        streams.getStream(device_) != streams.getDefaultStream(device_),
        "StepGraph: the default stream cannot be captured; make "
        "an OwnStream first");
    // Other threads may go on to wait for events, as a writer of checkpoints
    // does.
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    try {
      step();
    } catch (...) {
      const std::exception_ptr error = std::current_exception();
      try {
        graph_.capture_end();
      } catch (const c10::Error&) {
        // A capture that broke a rule ends with an error of its own.
      }
      graph_.reset();
      std::rethrow_exception(error);
    }
    graph_.capture_end();
  }

  void Replay() override {
    const c10::DeviceGuard guard(device_);
    graph_.replay();
  }

 private:
  const at::Device device_;
  at::cuda::CUDAGraph graph_;
};

}  // namespace

const bool kHasCudaGraph = true;

std::unique_ptr<StepGraph> MakeCudaGraph(at::Device device) {
  return std::make_unique<CudaGraph>(device);
}

}  // namespace trainyard
