#include "backends/amp.h"

#include <c10/util/Exception.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/autocast.h"

namespace trainyard {
namespace {

class Amp final : public Backend {
 public:
  Amp(std::unique_ptr<Backend> backend, const AmpOptions& options)
      : backend_(std::move(backend)),
        name_(backend_->name() + "-amp"),
        dtype_(options.dtype.value_or(
            backend_->device().is_cuda() ? at::kHalf : at::kBFloat16)) {
    TORCH_CHECK_VALUE(dtype_ == at::kBFloat16 || dtype_ == at::kHalf,
                      "Amp: dtype is ", dtype_, ", not BFloat16 or Half");
    if (dtype_ == at::kHalf) {
      scaler_.emplace(backend_->device(), options.scaler);
    }
  }

  const std::string& name() const override { return name_; }
  at::Device device() const override { return backend_->device(); }
  Collectives& collectives() const override { return backend_->collectives(); }
  void Prepare(const std::vector<ModelTensors>& models) override {
    backend_->Prepare(models);
  }
  double ReferenceWeight(double weight) override {
    return backend_->ReferenceWeight(weight);
  }

  void Forward(c10::function_ref<void()> pass) override {
    const Autocast autocast(device().type(), dtype_);
    backend_->Forward(pass);
  }

  void Backward(const at::Tensor& loss,
                const BackwardOptions& options) override {
    // A task may call it within its forward pass; gradients take the types that
    // the pass chose, and nothing else is to be cast.
    const Autocast full(device().type(), dtype_, /*enabled=*/false);
    backend_->Backward(loss, Scaled(options));
  }

  void BackwardWithoutBatch(const BackwardOptions& options) override {
    backend_->BackwardWithoutBatch(options);
  }

  double FinishGradients(Optimizer& optimizer) override {
    const double weight = backend_->FinishGradients(optimizer);
    if (scaler_) scaler_->Unscale(optimizer);
    return weight;
  }

  bool Update(Optimizer& optimizer, const UpdateOptions& options) override {
    if (scaler_ && !scaler_->AllFinite(optimizer)) return false;
    return backend_->Update(optimizer, options);
  }

  void EndWindow() override {
    if (scaler_) scaler_->Update();
    backend_->EndWindow();
  }

  State SaveState() const override {
    State state = backend_->SaveState();
    if (!scaler_) return state;
    const State scaler = scaler_->SaveState();
    for (const auto& [name, value] : scaler.values()) state.Set(name, value);
    return state;
  }

  void LoadState(const State& state) override {
    // The one that can refuse first; a state of another precision has no scale.
    if (scaler_) scaler_->LoadState(state);
    backend_->LoadState(state);
  }

 private:
  BackwardOptions Scaled(BackwardOptions options) const {
    if (scaler_) options.share *= scaler_->scale();
    return options;
  }

  const std::unique_ptr<Backend> backend_;
  const std::string name_;
  const c10::ScalarType dtype_;
  std::optional<GradScaler> scaler_;
};

}  // namespace

std::unique_ptr<Backend> MakeAmpBackend(std::unique_ptr<Backend> backend,
                                        const AmpOptions& options) {
  TORCH_CHECK_VALUE(backend != nullptr, "Amp: there is no backend to add to");
  return std::make_unique<Amp>(std::move(backend), options);
}

}  // namespace trainyard
