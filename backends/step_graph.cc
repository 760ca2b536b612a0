#include "backends/step_graph.h"

#include <c10/util/Exception.h>

#include <map>
#include <mutex>
#include <utility>

#include "backends/cuda_graph.h"

namespace trainyard {
namespace {

struct StepGraphMakers {
  std::mutex mutex;
  std::map<c10::DeviceType, StepGraphMaker> by_type;
};

StepGraphMakers& AllStepGraphMakers() {
  static auto* const makers = [] {
    auto* const all = new StepGraphMakers;
    if (kHasCudaGraph) all->by_type[c10::DeviceType::CUDA] = &MakeCudaGraph;
    return all;
  }();
  return *makers;
}

StepGraphMaker FindStepGraphMaker(c10::DeviceType type) {
  StepGraphMakers& makers = AllStepGraphMakers();
  const std::lock_guard lock(makers.mutex);
  const auto it = makers.by_type.find(type);
  return it == makers.by_type.end() ? nullptr : it->second;
}

}  // namespace

void RegisterStepGraph(c10::DeviceType type, StepGraphMaker make) {
  StepGraphMakers& makers = AllStepGraphMakers();
  const std::lock_guard lock(makers.mutex);
  makers.by_type[type] = std::move(make);
}

bool HasStepGraph(c10::DeviceType type) {
  return FindStepGraphMaker(type) != nullptr;
}

std::unique_ptr<StepGraph> MakeStepGraph(at::Device device) {
  const StepGraphMaker make = FindStepGraphMaker(device.type());
  TORCH_CHECK_VALUE(make != nullptr, "StepGraph: steps on ", device,
                    " cannot be captured; CUDA can, in a build with "
                    "--config=cuda");
  return make(device);
}

}  // namespace trainyard
