// StepGraph records the work that a step launches on an accelerator and repeats
// it with one call, without the host's part of the step.
//
//   const OwnStream stream(device);
//   const std::unique_ptr<StepGraph> graph = MakeStepGraph(device);
//   graph->Capture([&] { y = x.mul(2); });  // recorded, not computed
//   x.copy_(input);
//   graph->Replay();  // y is 2 * input
//
// The rules of a step that is captured:
//
//   - The host does not wait for the device and reads nothing from it.
//   - Numbers on the host have the values of the capture in every replay. What
//     changes must be in a tensor on the device.
//   - Tensors from outside keep their memory as long as the graph is replayed.
//     Memory that is allocated in the step belongs to the graph; a tensor that
//     is kept is overwritten by the next replay.
//   - Work is on the current stream, which is not the default one, and on
//     streams that have waited for it and that it waits for in the end.
//   - Random numbers come from the device's default generator. Each replay
//     advances it as the step would.
//
// A step that breaks a rule is an error on the stand-in (testing/standin). CUDA
// finds the first and the fourth.
//
// Thread-compatible; one capture at a time per process.
#ifndef TRAINYARD_BACKENDS_STEP_GRAPH_H_
#define TRAINYARD_BACKENDS_STEP_GRAPH_H_

#include <c10/core/Device.h>
#include <c10/util/FunctionRef.h>

#include <functional>
#include <memory>

namespace trainyard {

class StepGraph {
 public:
  virtual ~StepGraph() = default;

  // Calls `step` and records what it launches; nothing of it is computed. What
  // the step throws is thrown on, and then there is no graph. Call it once.
  virtual void Capture(c10::function_ref<void()> step) = 0;

  // Launches the recorded work on the current stream. REQUIRES: captured.
  virtual void Replay() = 0;
};

using StepGraphMaker =
    std::function<std::unique_ptr<StepGraph>(at::Device device)>;

// MakeStepGraph calls `make` for devices of this type from now on.
void RegisterStepGraph(c10::DeviceType type, StepGraphMaker make);

// Whether steps on this type of device can be captured: on CUDA in a build with
// --config=cuda, and on types that were registered; never on the CPU.
bool HasStepGraph(c10::DeviceType type);

// Throws c10::ValueError unless HasStepGraph.
std::unique_ptr<StepGraph> MakeStepGraph(at::Device device);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_STEP_GRAPH_H_
