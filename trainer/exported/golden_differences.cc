#include "trainer/exported/golden_differences.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "finetuning/warm_start/export_model.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/exported/exported_model.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"

namespace trainyard {
namespace {

using Tensors = std::map<std::string, at::Tensor>;

// The tensors of a group, e.g. "gradient/", without the group's name.
Tensors Group(const Safetensors& file, const std::string& prefix) {
  Tensors group;
  for (const NamedTensor& item : file.tensors) {
    if (item.name.starts_with(prefix)) {
      group[item.name.substr(prefix.size())] = item.tensor;
    }
  }
  return group;
}

// Infinite for tensors of another type or shape, and for NaN.
double Difference(const at::Tensor& a, const at::Tensor& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) {
    return kInfinity;
  }
  if (!b.is_floating_point()) return at::equal(a, b) ? 0 : kInfinity;
  if (b.numel() == 0) return 0;
  const double difference =
      a.sub(b).abs().max().div(b.abs().max().clamp_min(1e-12)).item<double>();
  return difference >= 0 ? difference : kInfinity;
}

double Difference(const std::vector<NamedTensor>& all,
                  const Tensors& expected) {
  TORCH_CHECK_VALUE(all.size() == expected.size(), "there are ", all.size(),
                    " tensors; Python has ", expected.size());
  double largest = 0;
  for (const NamedTensor& item : all) {
    largest =
        std::max(largest, Difference(item.tensor, expected.at(item.name)));
  }
  return largest;
}

class Comparison {
 public:
  Comparison(const std::string& model_path, const std::string& golden_path)
      : model_(OrThrow(LoadExported(model_path))),
        golden_(OrThrow(ReadSafetensors(golden_path))) {
    const Tensors given = Group(golden_, "input/");
    for (const std::string& name : model_->InputNames()) {
      inputs_.push_back(given.at(name));
    }
  }

  GoldenDifferences Run(const std::string& left) {
    GoldenDifferences differences;
    differences.eval = Difference(Evaluated(), Group(golden_, "eval/"));
    AdamW optimizer(*model_, {.lr = 1e-2});
    at::manual_seed(2);
    for (int update = 0; update < 20; ++update) {
      optimizer.ZeroGrad();
      const std::vector<at::Tensor> outputs = model_->Run(inputs_);
      Loss(outputs).backward();
      if (update == 0) CompareFirst(outputs, differences);
      optimizer.step();
    }
    std::vector<NamedTensor> state = model_->Parameters();
    for (const NamedTensor& item : model_->Buffers()) state.push_back(item);
    differences.updates = Difference(state, Group(golden_, "trained/"));
    if (!left.empty()) {
      OrThrow(
          ExportSafetensors(model_->StateDict(), left + "_state.safetensors"));
      OrThrow(WriteSafetensors(left + "_outputs.safetensors", Evaluated()));
    }
    return differences;
  }

 private:
  std::vector<NamedTensor> Named(const std::vector<at::Tensor>& outputs) const {
    const std::vector<std::string> names = model_->OutputNames();
    std::vector<NamedTensor> named;
    for (size_t i = 0; i < outputs.size(); ++i) {
      named.push_back({names[i], outputs[i].detach()});
    }
    return named;
  }

  std::vector<NamedTensor> Evaluated() {
    const at::NoGradGuard no_gradients;
    model_->SetTraining(false);
    const std::vector<at::Tensor> outputs = model_->Run(inputs_);
    std::vector<NamedTensor> named = Named(outputs);
    model_->SetTraining(true);
    return named;
  }

  static at::Tensor Loss(const std::vector<at::Tensor>& outputs) {
    at::Tensor loss;
    for (const at::Tensor& output : outputs) {
      if (!output.is_floating_point()) continue;
      const at::Tensor term = output.square().mean();
      loss = loss.defined() ? loss.add(term) : term;
    }
    return loss;
  }

  void CompareFirst(const std::vector<at::Tensor>& outputs,
                    GoldenDifferences& differences) const {
    differences.train = Difference(Named(outputs), Group(golden_, "train/"));
    std::vector<NamedTensor> gradients;
    for (const NamedTensor& item : model_->Parameters()) {
      if (!item.tensor.grad().defined()) continue;
      gradients.push_back({item.name, item.tensor.grad()});
    }
    differences.gradients = Difference(gradients, Group(golden_, "gradient/"));
    differences.num_gradients = gradients.size();
    differences.buffers =
        Difference(model_->Buffers(), Group(golden_, "buffer/"));
    differences.num_buffers = model_->Buffers().size();
  }

  std::shared_ptr<ExportedModel> model_;
  Safetensors golden_;
  std::vector<at::Tensor> inputs_;
};

}  // namespace

GoldenDifferences CompareWithGolden(const std::string& model_path,
                                    const std::string& golden_path,
                                    const std::string& left) {
  return Comparison(model_path, golden_path).Run(left);
}

}  // namespace trainyard
