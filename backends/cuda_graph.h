// MakeCudaGraph makes a StepGraph of at::cuda::CUDAGraph. Only a build with
// --config=cuda has it. It was never run on a GPU.
#ifndef TRAINYARD_BACKENDS_CUDA_GRAPH_H_
#define TRAINYARD_BACKENDS_CUDA_GRAPH_H_

#include <c10/core/Device.h>

#include <memory>

namespace trainyard {

class StepGraph;

extern const bool kHasCudaGraph;

// Throws c10::NotImplementedError in a build for the CPU.
std::unique_ptr<StepGraph> MakeCudaGraph(at::Device device);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_CUDA_GRAPH_H_
