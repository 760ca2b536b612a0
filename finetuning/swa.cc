#include "finetuning/swa.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>
#include <torch/nn/modules/batchnorm.h>

#include <memory>
#include <utility>
#include <vector>

namespace trainyard {
namespace {

// Prepares a batch norm of any dimension for measuring; the destructor restores
// it.
class Norm {
 public:
  virtual ~Norm() = default;
  virtual bool measured() const = 0;
};

template <class Impl>
class NormOf final : public Norm {
 public:
  explicit NormOf(Impl& norm)
      : norm_(norm), momentum_(norm.options.momentum()) {
    norm_.reset_running_stats();
    norm_.options.momentum(std::nullopt);  // the mean of all batches
    norm_.train();
  }
  ~NormOf() override { norm_.options.momentum(momentum_); }
  bool measured() const override {
    return norm_.num_batches_tracked.template item<int64_t>() > 0;
  }

 private:
  Impl& norm_;
  std::optional<double> momentum_;
};

template <class Impl>
void AddIf(torch::nn::Module& module,
           std::vector<std::unique_ptr<Norm>>& norms) {
  auto* const norm = dynamic_cast<Impl*>(&module);
  if (norm == nullptr || !norm->options.track_running_stats()) return;
  norms.push_back(std::make_unique<NormOf<Impl>>(*norm));
}

// Saves the modes of all modules; the destructor restores them.
class KeepModes {
 public:
  explicit KeepModes(torch::nn::Module& model) : model_(model) {
    training_ = model.is_training();
    for (const auto& module : model.modules(/*include_self=*/false)) {
      modes_.emplace_back(module, module->is_training());
    }
  }
  ~KeepModes() {
    model_.train(training_);
    // train() also sets the mode of the children, which come later in the list.
    for (const auto& [module, training] : modes_) module->train(training);
  }
  KeepModes(const KeepModes&) = delete;
  KeepModes& operator=(const KeepModes&) = delete;

 private:
  torch::nn::Module& model_;
  bool training_;
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, bool>> modes_;
};

}  // namespace

Swa::Swa(const AveragedTensors& model, std::optional<at::Device> device)
    : ModelAverage("Swa", model, device) {}

void Swa::Update() { MoveTowardsModel(1 / static_cast<double>(CountUpdate())); }

void UpdateBatchNorms(torch::nn::Module& model,
                      c10::function_ref<void()> pass) {
  const at::NoGradGuard no_gradients;
  const KeepModes keep_modes(model);
  model.eval();
  std::vector<std::unique_ptr<Norm>> norms;
  model.apply([&norms](torch::nn::Module& module) {
    AddIf<torch::nn::BatchNorm1dImpl>(module, norms);
    AddIf<torch::nn::BatchNorm2dImpl>(module, norms);
    AddIf<torch::nn::BatchNorm3dImpl>(module, norms);
  });
  TORCH_CHECK_VALUE(!norms.empty(),
                    "UpdateBatchNorms: the model has no batch norm with "
                    "statistics");
  pass();
  for (const auto& norm : norms) {
    TORCH_CHECK_VALUE(norm->measured(),
                      "UpdateBatchNorms: no batch went through a batch norm of "
                      "the model; its statistics are reset");
  }
}

}  // namespace trainyard
