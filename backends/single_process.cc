#include "backends/single_process.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>

#include <optional>
#include <vector>

#include "backends/check_loss.h"
#include "backends/collectives.h"
#include "trainer/model/ready_gradients.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"
#include "trainer/state.h"

namespace trainyard {
namespace {

class SingleProcess final : public Backend {
 public:
  explicit SingleProcess(at::Device device) : device_(device) {}

  const std::string& name() const override { return name_; }
  at::Device device() const override { return device_; }
  Collectives& collectives() const override { return *collectives_; }

  void Prepare(const std::vector<ModelTensors>&) override {}
  double ReferenceWeight(double weight) override { return weight; }
  void Forward(c10::function_ref<void()> pass) override { pass(); }

  void Backward(const at::Tensor& loss,
                const BackwardOptions& options) override {
    CheckLoss(loss);
    if (options.scale.defined()) {
      loss.backward(LossGradient(loss, options.share)
                        .mul(options.scale.to(loss.scalar_type())));
    } else if (ReadyGradients::Add(loss, options.share)) {
      // A compiled step has computed them.
    } else {  // as the gradient of the loss itself: no extra kernel
      loss.backward(LossGradient(loss, options.share));
    }
    if (options.sync) weight_ = options.weight;
  }

  void BackwardWithoutBatch(const BackwardOptions& options) override {
    if (options.sync) weight_ = options.weight;
  }

  double FinishGradients(Optimizer&) override { return weight_; }

  bool Update(Optimizer& optimizer, const UpdateOptions& options) override {
    const at::NoGradGuard no_gradients;
    if (options.clip.kind == Clip::Kind::kNone && options.divisor == 1) {
      Step(optimizer, options, at::Tensor());
      return true;
    }
    const std::vector<at::Tensor>& gradients = optimizer.Gradients();
    if (gradients.empty()) return true;  // nothing was trained in this window
    at::Tensor divisor;
    if (options.clip.kind == Clip::Kind::kNorm) {
      // Folded into the optimizer's own pass over the gradients.
      divisor = ClippingDivisor(gradients, options.divisor, options.clip.limit);
    } else if (options.clip.kind == Clip::Kind::kNone) {
      divisor = at::scalar_tensor(options.divisor, gradients.front().options());
    } else {
      if (options.divisor != 1) {
        for (const at::Tensor& gradient : gradients)
          gradient.div_(options.divisor);
      }
      ClipGradients(gradients, options.clip);
    }
    Step(optimizer, options, divisor);
    return true;
  }

  bool capturable() const override { return true; }
  void EndWindow() override {}

  State SaveState() const override { return State(); }
  void LoadState(const State& state) override { state.CheckVersion(1); }

 private:
  static void Step(Optimizer& optimizer, const UpdateOptions& options,
                   const at::Tensor& divisor) {
    if (options.skip.defined()) {
      optimizer.StepUnless(options.skip, divisor.defined()
                                             ? std::optional(divisor)
                                             : std::nullopt);
    } else if (divisor.defined()) {
      optimizer.StepDivided(divisor);
    } else {
      optimizer.step();
    }
  }

  // Returns a tensor like the loss with the value `share`. Kept for the next
  // step: making it takes 4,000 instructions. Another version means that a hook
  // has changed it in place.
  const at::Tensor& LossGradient(const at::Tensor& loss, double share) {
    if (!loss_gradient_.defined() || loss_share_ != share ||
        loss_gradient_._version() != loss_gradient_version_ ||
        loss_gradient_.sizes() != loss.sizes() ||
        loss_gradient_.scalar_type() != loss.scalar_type() ||
        loss_gradient_.device() != loss.device()) {
      const at::NoGradGuard no_gradients;
      loss_gradient_ =
          at::full(loss.sizes(), share, loss.options().requires_grad(false));
      loss_share_ = share;
      loss_gradient_version_ = loss_gradient_._version();
    }
    return loss_gradient_;
  }

  const std::string name_ = "sp";
  at::Device device_;
  const std::unique_ptr<Collectives> collectives_ = MakeLocalCollectives();
  double weight_ = 1;
  at::Tensor loss_gradient_;
  double loss_share_ = 1;  // what loss_gradient_ has in it
  int64_t loss_gradient_version_ = 0;
};

}  // namespace

std::unique_ptr<Backend> MakeSingleProcessBackend(at::Device device) {
  return std::make_unique<SingleProcess>(device);
}

}  // namespace trainyard
