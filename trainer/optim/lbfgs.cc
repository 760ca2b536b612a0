#include "trainer/optim/lbfgs.h"

#include <ATen/ops/scalar_tensor.h>
#include <c10/util/Exception.h>
#include <torch/optim/lbfgs.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "trainer/model/tensor_match.h"

namespace trainyard {
namespace {

using TorchState = torch::optim::LBFGSParamState;

torch::optim::LBFGSOptions TorchOptions(const LBFGSOptions& options) {
  torch::optim::LBFGSOptions torch_options(options.lr);
  torch_options.max_iter(options.max_iter)
      .max_eval(options.max_eval)
      .tolerance_grad(options.tolerance_grad)
      .tolerance_change(options.tolerance_change)
      .history_size(options.history_size);
  if (options.line_search == LBFGSOptions::Search::kStrongWolfe) {
    torch_options.line_search_fn("strong_wolfe");
  }
  return torch_options;
}

void CheckCount(const char* field, int64_t value) {
  TORCH_CHECK_VALUE(value >= 1, "LBFGS: ", field, " is ", value,
                    "; it must be at least 1");
}

// libtorch keeps one state for all parameters, under the first of them.
void* Key(torch::optim::LBFGS& optimizer) {
  return optimizer.param_groups()[0].params()[0].unsafeGetTensorImpl();
}

at::Tensor Number(double value) {
  return at::scalar_tensor(value, at::kDouble);
}

// "lbfgs/old_dirs/0007": numbers of four digits sort like text.
std::string Numbered(const std::string& name, size_t index) {
  const std::string digits = std::to_string(10000 + index);
  return "lbfgs/" + name + "/" + digits.substr(1);
}

void Save(const std::string& name, const std::deque<at::Tensor>& tensors,
          std::vector<NamedTensor>& state) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    state.push_back({Numbered(name, i), tensors[i].clone()});
  }
}

// The tensors of a saved state by name. Take removes a tensor from it.
class Reader {
 public:
  explicit Reader(const std::vector<NamedTensor>& state) {
    for (const NamedTensor& item : state) left_[item.name] = item.tensor;
  }
  at::Tensor Take(const std::string& name) {
    const auto found = left_.find("lbfgs/" + name);
    if (found == left_.end()) {
      differences_.missing.push_back("lbfgs/" + name);
      return Number(0);
    }
    return left_.extract(found).mapped().clone();
  }
  double TakeNumber(const std::string& name) {
    return Take(name).item<double>();
  }
  std::deque<at::Tensor> TakeAll(const std::string& name) {
    std::deque<at::Tensor> tensors;
    for (auto found = left_.find(Numbered(name, 0)); found != left_.end();
         found = left_.find(Numbered(name, tensors.size()))) {
      tensors.push_back(left_.extract(found).mapped().clone());
    }
    return tensors;
  }
  TensorDifferences Finish() {
    for (const auto& [name, tensor] : left_) {
      differences_.unexpected.push_back(name);
    }
    return differences_;
  }

 private:
  std::map<std::string, at::Tensor> left_;
  TensorDifferences differences_;
};

}  // namespace

LBFGS::LBFGS(const ParamGroups& groups, const LBFGSOptions& options)
    : Optimizer("LBFGS", groups, {{"lr", options.lr}}) {
  TORCH_CHECK_VALUE(num_groups() == 1, "LBFGS: there are ", num_groups(),
                    " groups; there must be one");
  CheckCount("max_iter", options.max_iter);
  if (options.max_eval) CheckCount("max_eval", *options.max_eval);
  CheckCount("history_size", options.history_size);
  for (const FieldSpec& field :
       {FieldSpec{"tolerance_grad", options.tolerance_grad},
        FieldSpec{"tolerance_change", options.tolerance_change}}) {
    field.Check(name(), field.value);
  }
  inner_ = std::make_unique<torch::optim::LBFGS>(param_groups()[0].params(),
                                                 TorchOptions(options));
}

LBFGS::~LBFGS() = default;

at::Tensor LBFGS::step(LossClosure closure) {
  TORCH_CHECK_VALUE(closure != nullptr,
                    "LBFGS: step needs a closure that returns the loss, which "
                    "it calls several times");
  inner_->param_groups()[0].options().set_lr(fields(0)[0]);
  return inner_->step(std::move(closure));
}

void LBFGS::Step(const std::optional<at::Tensor>&) { step(nullptr); }

std::vector<NamedTensor> LBFGS::NamedTensors() const {
  const auto found = inner_->state().find(Key(*inner_));
  if (found == inner_->state().end()) return {};
  const auto& from = static_cast<const TorchState&>(*found->second);
  std::vector<NamedTensor> state;
  const auto save = [&state](const char* name, const at::Tensor& tensor) {
    state.push_back({std::string("lbfgs/") + name, tensor});
  };
  save("H_diag", from.H_diag().clone());
  save("d", from.d().clone());
  save("func_evals", Number(static_cast<double>(from.func_evals())));
  save("n_iter", Number(static_cast<double>(from.n_iter())));
  Save("old_dirs", from.old_dirs(), state);
  Save("old_stps", from.old_stps(), state);
  save("prev_flat_grad", from.prev_flat_grad().clone());
  save("prev_loss", Number(from.prev_loss()));
  Save("ro", from.ro(), state);
  save("t", Number(from.t()));
  return state;
}

void LBFGS::LoadTensors(const std::vector<NamedTensor>& state) {
  Reader reader(state);
  auto loaded = std::make_unique<TorchState>();
  loaded->H_diag(reader.Take("H_diag"));
  loaded->d(reader.Take("d"));
  loaded->func_evals(static_cast<int64_t>(reader.TakeNumber("func_evals")));
  loaded->n_iter(static_cast<int64_t>(reader.TakeNumber("n_iter")));
  loaded->old_dirs(reader.TakeAll("old_dirs"));
  loaded->old_stps(reader.TakeAll("old_stps"));
  loaded->prev_flat_grad(reader.Take("prev_flat_grad"));
  loaded->prev_loss(reader.TakeNumber("prev_loss"));
  loaded->ro(reader.TakeAll("ro"));
  loaded->t(reader.TakeNumber("t"));
  TensorDifferences differences = reader.Finish();
  int64_t elements = 0;
  for (const at::Tensor& param : param_groups()[0].params()) {
    elements += param.numel();
  }
  if (differences.missing.empty() && loaded->d().numel() != elements) {
    differences.different.push_back(
        "lbfgs/d: saved as [" + std::to_string(loaded->d().numel()) +
        "], wanted as [" + std::to_string(elements) + "]");
  }
  TORCH_CHECK_VALUE(differences.none(), name(),
                    ": the saved tensors do not fit:\n", Describe(differences));
  inner_->state()[Key(*inner_)] = std::move(loaded);
}

}  // namespace trainyard
