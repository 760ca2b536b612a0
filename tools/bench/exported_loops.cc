// Times a whole training step of an exported model by four loops, in turns: the
// fastest hand-written one over the same network in torch::nn, the same loop
// over the interpreted graph, the trainer with the interpreted graph, and the
// trainer with the compiled library. For tools/bench/exported_loops.py.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "finetuning/warm_start/warm_start.h"
#include "schedulers/cosine.h"
#include "tools/bench/exported_nets.h"
#include "tools/cli/parse_flags.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/exported/compiled_task.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

ABSL_FLAG(std::string, net, "mlp", "mlp, conv or transformer.");
ABSL_FLAG(std::string, folder, "",
          "Where NET.safetensors and NET.pt2 are, of export_model.py "
          "--compile.");
ABSL_FLAG(int64_t, steps, 200, "Steps per turn of a loop.");
ABSL_FLAG(int64_t, turns, 11, "Turns of each loop; the median counts.");
ABSL_FLAG(std::string, only, "",
          "The only loop to run: hand, graph, interpreted or compiled. Empty: "
          "all.");

namespace trainyard {
namespace {

constexpr int64_t kBatches = 50;
constexpr double kLr = 1e-3, kClip = 1;

struct Data {
  explicit Data(const ExportedNet& net) {
    at::manual_seed(3);
    x = net.inputs(kBatches);
    y = at::randint(10, {x.size(0)}, at::kLong);
  }
  at::Tensor x, y;
};

class Loop {
 public:
  virtual ~Loop() = default;
  virtual void Run(int64_t steps) = 0;
};

std::string File(const std::string& ending) {
  return absl::GetFlag(FLAGS_folder) + "/" + absl::GetFlag(FLAGS_net) + ending;
}

// As in step_loops.cc: batches made beforehand, one fused kernel per update,
// the clipping factor handed to it.
class HandWritten final : public Loop {
 public:
  explicit HandWritten(bool exported) {
    if (exported) {
      const auto model = OrThrow(LoadExported(File(".safetensors")));
      for (const NamedTensor& item : model->TrainedParameters()) {
        parameters_.push_back(item.tensor);
      }
      forward_ = [model](const at::Tensor& x) { return model->forward(x); };
    } else {
      OrThrow(WarmStart(File(".safetensors"), *net_.module).status());
      parameters_ = net_.module->parameters();
      forward_ = net_.forward;
    }
    gradients_.resize(parameters_.size());
    xs_ = data_.x.split(net_.batch);
    ys_ = data_.y.split(net_.batch);
    for (const at::Tensor& parameter : parameters_) {
      m_.push_back(at::zeros_like(parameter));
      v_.push_back(at::zeros_like(parameter));
      counts_.push_back(count_);
    }
  }
  void Run(int64_t steps) override {
    for (int64_t i = 0; i < steps; ++i) Step(i, steps);
  }

 private:
  void Step(int64_t i, int64_t steps) {
    for (const at::Tensor& parameter : parameters_) {
      parameter.mutable_grad().reset();
    }
    const auto batch = static_cast<size_t>(i % kBatches);
    const at::Tensor loss =
        at::cross_entropy_loss(forward_(xs_[batch]), ys_[batch]);
    loss.backward();
    const at::NoGradGuard no_gradients;
    float squares = 0;
    for (size_t k = 0; k < parameters_.size(); ++k) {
      gradients_[k] = parameters_[k].grad();
      const float norm = at::linalg_vector_norm(gradients_[k], 2).item<float>();
      squares += norm * norm;
    }
    const float factor =
        (std::sqrt(squares) + 1e-6F) / static_cast<float>(kClip);
    std::optional<at::Tensor> divisor;
    if (factor > 1) {
      *scale_.data_ptr<float>() = factor;
      divisor = scale_;
    }
    *count_.data_ptr<float>() += 1;
    const double rate = kLr * 0.5 *
                        (1 + std::cos(M_PI * static_cast<double>(i) /
                                      static_cast<double>(steps)));
    at::_fused_adamw_(parameters_, gradients_, m_, v_, none_, counts_, rate,
                      0.9, 0.999, 0.01, 1e-8, false, false, divisor);
    total_ += loss.item<double>();
  }

  ExportedNet net_ = MakeExportedNet(absl::GetFlag(FLAGS_net));
  Data data_{net_};
  std::vector<at::Tensor> xs_, ys_, m_, v_, none_, counts_;
  std::vector<at::Tensor> parameters_, gradients_;
  std::function<at::Tensor(const at::Tensor&)> forward_;
  at::Tensor count_ = at::zeros({}), scale_ = at::ones({});
  double total_ = 0;
};

class WithTrainer final : public Loop {
 public:
  explicit WithTrainer(bool compiled)
      : optimizer_(*model_, {.lr = kLr}),
        trainer_(compiled ? CompiledSupervised(
                                model_,
                                OrThrow(LoadCompiledStep(File(".pt2"), model_)),
                                CrossEntropy())
                          : Supervised(model_, CrossEntropy()),
                 optimizer_, *backend_, {.default_callbacks = false}) {}
  void Run(int64_t steps) override {
    trainer_.Train({.data = dataset_,
                    .length = Updates(steps),
                    .per_device_batch_size = net_.batch,
                    .clip = ClipNorm(kClip),
                    .schedule = Cosine()});
  }

 private:
  ExportedNet net_ = MakeExportedNet(absl::GetFlag(FLAGS_net));
  Data data_{net_};
  DatasetPtr dataset_ = MakeTensorDataset(Example{data_.x, data_.y});
  std::shared_ptr<ExportedModel> model_ =
      OrThrow(LoadExported(File(".safetensors")));
  AdamW optimizer_;
  std::unique_ptr<Backend> backend_ = MakeBackend("sp");
  Trainer trainer_;
};

double Median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

int Run() {
  at::set_num_threads(1);
  const std::string only = absl::GetFlag(FLAGS_only);
  std::vector<std::string> names;
  std::vector<std::unique_ptr<Loop>> loops;
  const auto add = [&](const std::string& name, auto make) {
    if (!only.empty() && name != only) return;
    names.push_back(name);
    loops.push_back(make());
  };
  add("hand", [] { return std::make_unique<HandWritten>(false); });
  add("graph", [] { return std::make_unique<HandWritten>(true); });
  add("interpreted", [] { return std::make_unique<WithTrainer>(false); });
  add("compiled", [] { return std::make_unique<WithTrainer>(true); });
  const int64_t steps = absl::GetFlag(FLAGS_steps);
  std::vector<std::vector<double>> times(loops.size());
  for (int64_t turn = 0; turn <= absl::GetFlag(FLAGS_turns); ++turn) {
    for (size_t i = 0; i < loops.size(); ++i) {
      const std::clock_t begin = std::clock();
      loops[i]->Run(steps);
      const double seconds =
          static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      // The first turn warms up.
      if (turn > 0)
        times[i].push_back(1e3 * seconds / static_cast<double>(steps));
    }
  }
  for (size_t i = 0; i < loops.size(); ++i) {
    absl::PrintF("%s %.4f\n", names[i], Median(times[i]));
  }
  return 0;
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv,
                        "times whole training steps of an exported model");
  return trainyard::Main(trainyard::Run);
}
