// One rank of the data-parallel benchmark; tools/bench/ddp.py starts it and its
// Python counterpart. Reads numbers of steps from its input, trains that many,
// and prints the milliseconds that a step took.
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

#include "backends/make_backend.h"
#include "tools/cli/parse_flags.h"
#include "trainer/main.h"
#include "trainer/model/model.h"
#include "trainer/model/sequential_units.h"
#include "trainer/optim/adamw.h"

ABSL_FLAG(std::string, backend, "ddp", "Name of the backend, see MakeBackend.");
ABSL_FLAG(std::string, trace, "",
          "File for a Chrome trace of the last turn of rank 0.");

namespace trainyard {
namespace {

constexpr int64_t kBatch = 128;

class Bench {
 public:
  explicit Bench(Backend& backend) : backend_(backend) {
    if (backend_.shards_parameters()) DeclareUnits(*model_);
    const std::shared_ptr<Model> model = NnModel(model_.ptr());
    backend_.Prepare({{"mlp", model->Parameters(), {}, model->Units()}});
  }

  double Run(int64_t steps) {
    backend_.collectives().Barrier();
    const auto start = std::chrono::steady_clock::now();
    for (int64_t step = 0; step < steps; ++step) Step();
    const std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    return time.count() / static_cast<double>(steps);
  }

 private:
  void Step() {
    at::Tensor loss;
    backend_.Forward([&] {
      loss = at::cross_entropy_loss(model_->forward(input_), target_);
    });
    backend_.Backward(loss, {});
    backend_.FinishGradients(optimizer_);
    backend_.Update(optimizer_, {});
    optimizer_.ZeroGrad();
    backend_.EndWindow();
  }

  Backend& backend_;
  torch::nn::Sequential model_{torch::nn::Linear(784, 1024), torch::nn::ReLU(),
                               torch::nn::Linear(1024, 1024), torch::nn::ReLU(),
                               torch::nn::Linear(1024, 10)};
  AdamW optimizer_{*model_, {.lr = 1e-3}};
  at::Tensor input_ = at::randn({kBatch, 784});
  at::Tensor target_ = at::randint(10, {kBatch}, at::kLong);
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
  const auto backend = MakeBackend(absl::GetFlag(FLAGS_backend));
  Bench bench(*backend);
  int64_t steps = 0;
  while (std::cin >> steps) {
    std::cout << absl::StrFormat("%.4f", bench.Run(steps)) << std::endl;
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
