// MakeStandInGraph makes a StepGraph on the stand-in: it records the operators
// of the captured streams and runs them again on the same memory.
// RegisterStandIn registers it.
//
//   const auto graph = MakeStandInGraph(StandInDevice());
//   graph->Capture([&] { x.mul_(2); });
//   graph->Replay();
//
// Internal to the stand-in; see standin.h.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_STANDIN_GRAPH_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_STANDIN_GRAPH_H_

#include <c10/core/Device.h>

#include <memory>

#include "backends/step_graph.h"

namespace trainyard {

std::unique_ptr<StepGraph> MakeStandInGraph(at::Device device);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_STANDIN_GRAPH_H_
