// Times training steps (forward, backward, update) of an exported model, for
// tools/bench/exported_step.py: prints the median processor time.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "tools/cli/parse_flags.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/exported/exported_model.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"

ABSL_FLAG(std::string, model, "", "The model file.");
ABSL_FLAG(std::string, inputs, "",
          "A safetensors file with the model's inputs, by name.");
ABSL_FLAG(int, steps, 30, "Steps that are timed, after a fifth of as many.");

namespace trainyard {
namespace {

// As exported_models.py has it.
at::Tensor Loss(const std::vector<at::Tensor>& outputs) {
  at::Tensor loss;
  for (const at::Tensor& output : outputs) {
    if (!output.is_floating_point()) continue;
    const at::Tensor term = output.square().mean();
    loss = loss.defined() ? loss.add(term) : term;
  }
  return loss;
}

int Run() {
  at::set_num_threads(1);
  const auto model = OrThrow(LoadExported(absl::GetFlag(FLAGS_model)));
  const Safetensors file =
      OrThrow(ReadSafetensors(absl::GetFlag(FLAGS_inputs)));
  std::vector<at::Tensor> inputs;
  for (const std::string& name : model->InputNames()) {
    for (const NamedTensor& item : file.tensors) {
      if (item.name == name) inputs.push_back(item.tensor);
    }
  }
  AdamW optimizer({ParamGroup{.params = model->TrainedParameters()}},
                  {.lr = 1e-3});
  at::manual_seed(1);
  const int steps = absl::GetFlag(FLAGS_steps);
  std::vector<double> times;
  double loss = 0;
  for (int i = -steps / 5; i < steps; ++i) {
    const std::clock_t begin = std::clock();
    const at::Tensor error = Loss(model->Run(inputs));
    error.backward();
    optimizer.step();
    optimizer.ZeroGrad();
    const std::clock_t ticks = std::clock() - begin;
    if (i >= 0) {
      times.push_back(1e3 * static_cast<double>(ticks) / CLOCKS_PER_SEC);
    }
    loss = error.item<double>();
  }
  std::nth_element(times.begin(), times.begin() + steps / 2, times.end());
  absl::PrintF("%.4f ms, loss %.6g\n", times[static_cast<size_t>(steps) / 2],
               loss);
  return 0;
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv, "times training steps of a model file");
  return trainyard::Main(trainyard::Run);
}
