#include "trainer/model/ready_gradients.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <utility>

namespace trainyard {

using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::variable_list;

struct ReadyGradients::Targets {
  std::vector<at::Tensor> parameters;
  // For each parameter.
  std::vector<bool> requires_grad;
  edge_list edges;
};

namespace {

bool HasHooks(const at::Tensor& tensor) {
  const auto* const meta = torch::autograd::impl::get_autograd_meta(tensor);
  return meta != nullptr &&
         (!meta->hooks_.empty() || meta->post_acc_grad_hooks_ != nullptr);
}

bool HasHooks(torch::autograd::Node& node) {
  return !node.pre_hooks().empty() || !node.post_hooks().empty();
}

}  // namespace

// The gradient function of a loss.
class ReadyGradients::Function final : public torch::autograd::Node {
 public:
  Function(variable_list gradients, std::shared_ptr<const Targets> targets)
      : Node(edge_list(targets->edges)),
        gradients_(std::move(gradients)),
        targets_(std::move(targets)) {}

  variable_list apply(variable_list&& of_loss) override {
    variable_list gradients = Take();
    const at::Tensor& factor = of_loss[0];
    if (factor.is_cpu() && factor.item<double>() == 1) return gradients;
    for (at::Tensor& gradient : gradients) gradient = gradient.mul(factor);
    return gradients;
  }
  void release_variables() override { gradients_.clear(); }

  bool NeedsEngine() {
    if (HasHooks(*this)) return true;
    for (size_t i = 0; i < targets_->parameters.size(); ++i) {
      if (!targets_->requires_grad[i]) continue;
      if (HasHooks(targets_->parameters[i])) return true;
      if (HasHooks(*targets_->edges[i].function)) return true;
    }
    return false;
  }

  void AddAll(double factor) {
    const at::NoGradGuard no_gradients;
    variable_list gradients = Take();
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!targets_->requires_grad[i]) continue;
      at::Tensor& sum = targets_->parameters[i].mutable_grad();
      if (sum.defined()) {
        sum.add_(gradients[i], factor);
      } else if (factor == 1) {
        sum = std::move(gradients[i]);
      } else {
        sum = gradients[i].mul(factor);
      }
    }
  }

 private:
  variable_list Take() {
    TORCH_CHECK(!gradients_.empty(),
                "CompiledStep: backward() was called twice for one loss; the "
                "gradients are handed out once");
    return std::exchange(gradients_, {});
  }

  variable_list gradients_;
  const std::shared_ptr<const Targets> targets_;
};

ReadyGradients::ReadyGradients(std::vector<at::Tensor> parameters) {
  auto targets = std::make_shared<Targets>();
  for (const at::Tensor& parameter : parameters) {
    targets->requires_grad.push_back(parameter.requires_grad());
    targets->edges.push_back(
        parameter.requires_grad()
            ? torch::autograd::impl::gradient_edge(parameter)
            : Edge());
  }
  targets->parameters = std::move(parameters);
  targets_ = std::move(targets);
}

ReadyGradients::~ReadyGradients() = default;
ReadyGradients::ReadyGradients(ReadyGradients&&) noexcept = default;
ReadyGradients& ReadyGradients::operator=(ReadyGradients&&) noexcept = default;

bool ReadyGradients::IsUpToDate() const {
  for (size_t i = 0; i < targets_->parameters.size(); ++i) {
    if (targets_->parameters[i].requires_grad() != targets_->requires_grad[i]) {
      return false;
    }
  }
  return true;
}

void ReadyGradients::Attach(const at::Tensor& loss,
                            std::vector<at::Tensor> gradients) const {
  TORCH_CHECK_VALUE(gradients.size() == targets_->parameters.size(),
                    "ReadyGradients: there are ", gradients.size(),
                    " gradients for ", targets_->parameters.size(),
                    " parameters");
  at::Tensor own = loss;
  torch::autograd::create_gradient_edge(
      own, c10::make_intrusive<Function>(std::move(gradients), targets_));
}

bool ReadyGradients::Add(const at::Tensor& loss, double factor) {
  auto* const function = dynamic_cast<Function*>(loss.grad_fn().get());
  if (function == nullptr || HasHooks(loss) || function->NeedsEngine()) {
    return false;
  }
  function->AddAll(factor);
  return true;
}

}  // namespace trainyard
