#include "backends/amp.h"

#include <ATen/ops/empty.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <map>
#include <string>
#include <utility>

#include "backends/autocast.h"
#include "backends/backend_decorator.h"
#include "backends/slow_bf16.h"

namespace trainyard {
namespace {

// A flag of the device that the host reads later.
class LateFlag {
 public:
  // Starts to copy it. Read must have been called in between.
  void Start(const at::Tensor& flag) {
    if (!host_.defined()) {
      host_ = at::empty(
          {}, at::TensorOptions(flag.scalar_type()).pinned_memory(true));
    }
    host_.copy_(flag, /*non_blocking=*/true);
    copied_.emplace(flag.device().type());
    copied_->record(c10::impl::VirtualGuardImpl(flag.device().type())
                        .getStream(flag.device()));
  }
  bool started() const { return copied_.has_value(); }
  // Waits for the device if the copy has not ended.
  bool Read() {
    if (!copied_->query()) copied_->synchronize();
    copied_.reset();
    return *host_.const_data_ptr<float>() != 0;
  }

 private:
  at::Tensor host_;
  std::optional<c10::Event> copied_;
};

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
    if (rank() == 0) {
      if (const auto warning = SlowBf16Warning(dtype_, device())) {
        TORCH_WARN(*warning);
      }
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
    if (!scaler_) return BackendDecorator::Update(optimizer, options);
    if (!DecidesOnDevice(optimizer)) {
      return scaler_->AllFinite(optimizer) &&
             BackendDecorator::Update(optimizer, options);
    }
    // In a loop that does not ask.
    if (outcome_is_open(optimizer)) ReadOutcome(optimizer);
    UpdateOptions own = options;
    own.skip = scaler_->FoundInf(optimizer);
    BackendDecorator::Update(optimizer, own);
    skipped_[&optimizer].Start(own.skip);
    return true;
  }

  bool outcome_is_open(const Optimizer& optimizer) const override {
    const auto found = skipped_.find(&optimizer);
    return found != skipped_.end() && found->second.started();
  }

  bool ReadOutcome(Optimizer& optimizer) override {
    TORCH_CHECK_VALUE(outcome_is_open(optimizer),
                      "Amp: ReadOutcome: the outcome of the optimizer's last "
                      "update is known; ask outcome_is_open first");
    const bool skipped = skipped_.at(&optimizer).Read();
    if (skipped) optimizer.TakeBackStep();
    return !skipped;
  }

  // A replay would not copy the flag that ReadOutcome reads.
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
  // Only this rank's slices of the gradients are here if they are sharded, and
  // the ranks have agreed on the host.
  bool DecidesOnDevice(const Optimizer& optimizer) const {
    return !device().is_cpu() && !shards_gradients() &&
           optimizer.skips_on_device();
  }

  BackwardOptions Scaled(BackwardOptions options) const {
    if (!scaler_) return options;
    if (device().is_cpu()) {
      options.share *= scaler_->scale();
    } else {
      options.scale = scaler_->DeviceScale();
    }
    return options;
  }

  const bool capturable_;
  const std::string name_;
  const c10::ScalarType dtype_;
  std::optional<GradScaler> scaler_;
  // Whether the last update was skipped.
  std::map<const Optimizer*, LateFlag> skipped_;
};

}  // namespace

std::unique_ptr<Backend> MakeAmpBackend(std::unique_ptr<Backend> backend,
                                        const AmpOptions& options) {
  const bool capturable = backend != nullptr && backend->capturable();
  return std::make_unique<Amp>(std::move(backend), options, capturable);
}

}  // namespace trainyard
