// One rank of the data-parallel benchmark; tools/bench/ddp.py starts it and its
// Python counterpart. Reads a number of steps from its input, trains that many,
// and prints the milliseconds that a step took; or reads "memory", trains a
// step, and prints bytes of tensors.
#include <ATen/Parallel.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "tools/bench/counting_allocator.h"
#include "tools/cli/parse_flags.h"
#include "trainer/main.h"
#include "trainer/model/model.h"
#include "trainer/model/sequential_units.h"
#include "trainer/optim/adamw.h"

ABSL_FLAG(std::string, backend, "ddp", "Name of the backend, see MakeBackend.");
ABSL_FLAG(int64_t, layers, 1, "Hidden layers of WIDTH x WIDTH.");
ABSL_FLAG(int64_t, width, 1024, "Units of a layer.");
ABSL_FLAG(int64_t, batch, 128, "Rows per step and rank.");
ABSL_FLAG(std::string, trace, "",
          "File for a Chrome trace of the last turn of rank 0.");

namespace trainyard {
namespace {

torch::nn::Sequential MakeNetwork() {
  const int64_t width = absl::GetFlag(FLAGS_width);
  torch::nn::Sequential model(torch::nn::Linear(784, width), torch::nn::ReLU());
  for (int64_t i = 0; i < absl::GetFlag(FLAGS_layers); ++i) {
    model->push_back(torch::nn::Linear(width, width));
    model->push_back(torch::nn::ReLU());
  }
  model->push_back(torch::nn::Linear(width, 10));
  return model;
}

int64_t BytesOf(const std::vector<at::Tensor>& tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) {
    // Those of a parameter that is sharded elsewhere are none.
    if (tensor.storage().nbytes() > 0) bytes += tensor.nbytes();
  }
  return bytes;
}

class Bench {
 public:
  explicit Bench(Backend& backend) : backend_(backend) {
    if (backend_.shards_parameters()) DeclareUnits(*model_);
    const std::shared_ptr<Model> model = NnModel(model_.ptr());
    backend_.Prepare({{.name = "mlp",
                       .parameters = model->Parameters(),
                       .units = model->Units()}});
    backend_.PrepareOptimizer(optimizer_);
  }

  double Run(int64_t steps) {
    backend_.collectives().Barrier();
    const auto start = std::chrono::steady_clock::now();
    for (int64_t step = 0; step < steps; ++step) {
      Update();
      EndStep();
    }
    const std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    return time.count() / static_cast<double>(steps);
  }

  std::string Memory() {
    CountingAllocator& memory = CountingAllocator::Get();
    memory.ResetPeak();
    Update();
    std::vector<at::Tensor> parameters = model_->parameters();
    for (const at::Tensor& parameter : model_->parameters()) {
      const auto slice = backend_.HeldSlice(parameter);
      // One that has no memory of its own is part of the whole parameter.
      if (slice && parameter.storage().nbytes() == 0) {
        parameters.push_back(slice->values);
      }
    }
    std::vector<at::Tensor> state;
    for (const NamedTensor& item : optimizer_.NamedTensors()) {
      state.push_back(item.tensor);
    }
    std::string text = absl::StrFormat(
        R"({"parameters": %d, "gradients": %d, "state": %d, "held": %d, "peak": %d})",
        BytesOf(parameters), BytesOf(optimizer_.Gradients()), BytesOf(state),
        memory.current(), memory.peak());
    EndStep();
    return text;
  }

 private:
  void Update() {
    at::Tensor loss;
    backend_.Forward([&] {
      loss = at::cross_entropy_loss(model_->forward(input_), target_);
    });
    backend_.Backward(loss, {});
    loss.reset();
    backend_.FinishGradients(optimizer_);
    backend_.Update(optimizer_, {});
  }

  void EndStep() {
    optimizer_.ZeroGrad();
    backend_.EndWindow();
  }

  Backend& backend_;
  torch::nn::Sequential model_ = MakeNetwork();
  AdamW optimizer_{*model_, {.lr = 1e-3}};
  at::Tensor input_ = at::randn({absl::GetFlag(FLAGS_batch), 784});
  at::Tensor target_ = at::randint(10, {absl::GetFlag(FLAGS_batch)}, at::kLong);
};

void Trace(const std::string& path, Bench& bench, int64_t steps) {
  using torch::profiler::impl::ActivityType;
  namespace profiler = torch::autograd::profiler;
  const torch::profiler::impl::ProfilerConfig config(
      torch::profiler::impl::ProfilerState::KINETO);
  profiler::prepareProfiler(config, {ActivityType::CPU});
  profiler::enableProfiler(config, {ActivityType::CPU});
  bench.Run(steps);
  profiler::disableProfiler()->save(path);
}

int Run() {
  at::set_num_threads(1);
  CountingAllocator::Get();
  const auto backend = MakeBackend(absl::GetFlag(FLAGS_backend));
  Bench bench(*backend);
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "memory") {
      std::cout << bench.Memory() << std::endl;
    } else {
      std::cout << absl::StrFormat("%.4f", bench.Run(std::stoll(line)))
                << std::endl;
    }
  }
  if (!absl::GetFlag(FLAGS_trace).empty()) {
    if (backend->rank() == 0) {
      Trace(absl::GetFlag(FLAGS_trace), bench, 3);
    } else {
      bench.Run(3);
    }
  }
  return 0;
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv, "one rank of the data-parallel benchmark");
  return trainyard::Main(trainyard::Run);
}
