#include "backends/amp.h"

#include <c10/util/Exception.h>

#include <string>
#include <utility>

#include "backends/autocast.h"
#include "backends/backend_decorator.h"

namespace trainyard {
namespace {

bool CpuHasBf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return true;  // not known
#endif
}

class Amp final : public BackendDecorator {
 public:
  Amp(std::unique_ptr<Backend> backend, const AmpOptions& options,
      bool capturable)
      : BackendDecorator(std::move(backend)),
        capturable_(capturable),
        name_(BackendDecorator::name() + "-amp"),
        dtype_(options.dtype.value_or(device().is_cpu() ? at::kBFloat16
                                                        : at::kHalf)) {
    TORCH_CHECK_VALUE(dtype_ == at::kBFloat16 || dtype_ == at::kHalf,
                      "Amp: dtype is ", dtype_,
                      "; it must be BFloat16 or Half");
    if (dtype_ == at::kHalf) scaler_.emplace(device(), options.scaler);
    if (dtype_ == at::kBFloat16 && device().is_cpu() && !CpuHasBf16()) {
      TORCH_WARN(
          "Amp: this CPU has no instructions for bfloat16: mixed "
          "precision is several times slower than full precision here");
    }
  }

  const std::string& name() const override { return name_; }

  void Forward(c10::function_ref<void()> pass) override {
    const Autocast autocast(device().type(), dtype_);
    BackendDecorator::Forward(pass);
  }

  void Backward(const at::Tensor& loss,
                const BackwardOptions& options) override {
    // A task may call Backward inside its forward pass. Gradients have the
    // types that the pass chose; nothing else may be cast.
    const Autocast full(device().type(), dtype_, /*enabled=*/false);
    BackendDecorator::Backward(loss, Scaled(options));
  }

  double FinishGradients(Optimizer& optimizer) override {
    const double weight = BackendDecorator::FinishGradients(optimizer);
    if (scaler_) {
      scaler_->Unscale(optimizer);
      // Each rank has seen its slices only.
      if (shards_gradients()) {
        const bool here = scaler_->AllFinite(optimizer);
        scaler_->SetAllFinite(optimizer, !collectives().Any(!here));
      }
    }
    return weight;
  }

  bool Update(Optimizer& optimizer, const UpdateOptions& options) override {
    if (scaler_ && !scaler_->AllFinite(optimizer)) return false;
    return BackendDecorator::Update(optimizer, options);
  }

  // The loss scale is a number on the host, and changes.
  bool capturable() const override { return capturable_ && !scaler_; }

  void EndWindow() override {
    if (scaler_) scaler_->Update();
    BackendDecorator::EndWindow();
  }

  State SaveState() const override {
    State state = BackendDecorator::SaveState();
    if (!scaler_) return state;
    const State scaler = scaler_->SaveState();
    for (const auto& [name, value] : scaler.values()) state.Set(name, value);
    return state;
  }

  void LoadState(const State& state) override {
    // First what can throw: a state saved in another precision has no scale.
    if (scaler_) scaler_->LoadState(state);
    BackendDecorator::LoadState(state);
  }

 private:
  BackwardOptions Scaled(BackwardOptions options) const {
    if (scaler_) options.share *= scaler_->scale();
    return options;
  }

  const bool capturable_;
  const std::string name_;
  const c10::ScalarType dtype_;
  std::optional<GradScaler> scaler_;
};

}  // namespace

std::unique_ptr<Backend> MakeAmpBackend(std::unique_ptr<Backend> backend,
                                        const AmpOptions& options) {
  const bool capturable = backend != nullptr && backend->capturable();
  return std::make_unique<Amp>(std::move(backend), options, capturable);
}

}  // namespace trainyard
