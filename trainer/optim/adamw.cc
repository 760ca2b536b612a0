#include "trainer/optim/adamw.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

void CheckField(const char* field, double value, double limit) {
  TORCH_CHECK_VALUE(std::isfinite(value) && value >= 0 && value < limit,
                    "AdamW: ", field, " is ", value,
                    limit < 2 ? "; it must be at least 0 and less than 1"
                              : "; it must be a number of at least 0");
}

}  // namespace

AdamW::AdamW(const ParamGroups& groups, const AdamWOptions& options)
    : Optimizer("AdamW", groups,
                {{"lr", options.lr},
                 {"beta1", options.beta1},
                 {"beta2", options.beta2},
                 {"eps", options.eps},
                 {"weight_decay", options.weight_decay}}),
      amsgrad_(options.amsgrad) {
  constexpr double kNone = HUGE_VAL;
  for (size_t group = 0; group < num_groups(); ++group) {
    CheckField("lr", Field(group, "lr"), kNone);
    CheckField("beta1", Field(group, "beta1"), 1);
    CheckField("beta2", Field(group, "beta2"), 1);
    CheckField("eps", Field(group, "eps"), kNone);
    CheckField("weight_decay", Field(group, "weight_decay"), kNone);

    Lists lists;
    lists.params = param_groups()[group].params();
    for (const at::Tensor& param : lists.params) {
      lists.exp_avgs.push_back(at::zeros_like(param));
      lists.exp_avg_sqs.push_back(at::zeros_like(param));
      if (amsgrad_) lists.max_exp_avg_sqs.push_back(at::zeros_like(param));
      lists.steps.push_back(at::zeros({}, param.options().dtype(at::kFloat)));
    }
    lists.grads.resize(lists.params.size());
    groups_.push_back(std::move(lists));
  }
}

void AdamW::Step(const std::optional<at::Tensor>& divisor) {
  const at::NoGradGuard no_gradients;
  for (size_t group = 0; group < groups_.size(); ++group) {
    Lists& all = groups_[group];
    bool complete = true;
    for (size_t i = 0; i < all.params.size(); ++i) {
      all.grads[i] = all.params[i].grad();
      complete = complete && all.grads[i].defined();
    }
    if (complete) {
      StepGroup(group, all, divisor);
    } else {  // parameters that took no part in this update are left alone
      Lists used;
      for (size_t i = 0; i < all.params.size(); ++i) {
        if (!all.grads[i].defined()) continue;
        used.params.push_back(all.params[i]);
        used.grads.push_back(all.grads[i]);
        used.exp_avgs.push_back(all.exp_avgs[i]);
        used.exp_avg_sqs.push_back(all.exp_avg_sqs[i]);
        if (amsgrad_) used.max_exp_avg_sqs.push_back(all.max_exp_avg_sqs[i]);
        used.steps.push_back(all.steps[i]);
      }
      if (!used.params.empty()) StepGroup(group, used, divisor);
    }
    // Gradients are not kept alive here: ZeroGrad gives their memory back.
    std::fill(all.grads.begin(), all.grads.end(), at::Tensor());
  }
}

void AdamW::StepGroup(size_t group, const Lists& lists,
                      const std::optional<at::Tensor>& divisor) {
  if (lists.steps.front().is_cpu()) {
    // A kernel call per counter would take as long as the update of a small
    // model.
    for (const at::Tensor& step : lists.steps)
      *static_cast<float*>(step.data_ptr()) += 1;
  } else {
    at::_foreach_add_(lists.steps, 1);
  }
  at::_fused_adamw_(lists.params, lists.grads, lists.exp_avgs,
                    lists.exp_avg_sqs, lists.max_exp_avg_sqs, lists.steps,
                    Field(group, "lr"), Field(group, "beta1"),
                    Field(group, "beta2"), Field(group, "weight_decay"),
                    Field(group, "eps"), amsgrad_, /*maximize=*/false, divisor);
}

std::vector<NamedTensor> AdamW::State() const {
  std::vector<NamedTensor> state;
  for (size_t group = 0; group < groups_.size(); ++group) {
    const Lists& lists = groups_[group];
    for (size_t i = 0; i < lists.params.size(); ++i) {
      const std::string& name = names(group)[i];
      state.push_back({name + "/exp_avg", lists.exp_avgs[i]});
      state.push_back({name + "/exp_avg_sq", lists.exp_avg_sqs[i]});
      if (amsgrad_)
        state.push_back({name + "/max_exp_avg_sq", lists.max_exp_avg_sqs[i]});
      state.push_back({name + "/step", lists.steps[i]});
    }
  }
  std::sort(state.begin(), state.end(),
            [](const NamedTensor& a, const NamedTensor& b) {
              return a.name < b.name;
            });
  return state;
}

}  // namespace trainyard
