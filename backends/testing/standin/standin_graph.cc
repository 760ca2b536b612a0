#include "backends/testing/standin/standin_graph.h"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <optional>

#include "backends/testing/standin/generator.h"
#include "backends/testing/standin/runtime.h"

namespace trainyard {
namespace {

using standin::Runtime;

class Graph final : public StepGraph {
 public:
  explicit Graph(at::Device device)
      : index_(device.has_index() ? device.index()
                                  : Runtime::Get().current_device()) {}
  ~Graph() override {
    if (work_) Runtime::Get().DropPool(work_->pool);
  }

  void Capture(c10::function_ref<void()> step) override {
    TORCH_CHECK(!work_, "standin: this graph was captured before");
    Runtime& runtime = Runtime::Get();
    at::Generator generator = standin::DefaultGenerator(index_);
    const at::Tensor random = generator.get_state();
    runtime.BeginCapture(index_);
    try {
      step();
    } catch (...) {
      runtime.EndCapture(/*keep=*/false);
      generator.set_state(random);
      throw;
    }
    // Nothing was drawn; each replay draws.
    generator.set_state(random);
    work_ = runtime.EndCapture(/*keep=*/true);
  }

  void Replay() override {
    TORCH_CHECK(work_, "standin: the graph has not been captured");
    Runtime::Get().RunReplays(*work_);
  }

 private:
  const c10::DeviceIndex index_;
  std::optional<standin::CapturedWork> work_;
};

}  // namespace

std::unique_ptr<StepGraph> MakeStandInGraph(at::Device device) {
  return std::make_unique<Graph>(device);
}

}  // namespace trainyard
