// The networks of exported_nets.py, written by hand in C++.
#ifndef TRAINYARD_TOOLS_BENCH_EXPORTED_NETS_H_
#define TRAINYARD_TOOLS_BENCH_EXPORTED_NETS_H_

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

struct ExportedNet {
  std::shared_ptr<torch::nn::Module> module;
  std::function<at::Tensor(const at::Tensor&)> forward;
  int64_t batch;
  // Inputs for this many batches; targets are numbers below 10.
  std::function<at::Tensor(int64_t batches)> inputs;
};

// "mlp", "conv" or "transformer". Throws for other names.
ExportedNet MakeExportedNet(const std::string& name);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_BENCH_EXPORTED_NETS_H_
