#include "backends/testing/ddp_rig.h"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "trainer/loop/grad_window.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

constexpr int64_t kInputs = 12;
constexpr int64_t kHidden = 16;
constexpr int64_t kClasses = 4;
constexpr int64_t kPerUpdate = 32;

// Multiples of 2^-24 in [-0.5, 0.5): exact in float.
class Generator {
 public:
  explicit Generator(uint32_t seed) : state_(seed) {}
  float Next() {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<float>(static_cast<double>(state_ >> 8) / 16777216.0 -
                              0.5);
  }
  at::Tensor Fill(at::IntArrayRef sizes) {
    at::Tensor tensor = at::empty(sizes);
    auto* const values = tensor.mutable_data_ptr<float>();
    for (int64_t i = 0; i < tensor.numel(); ++i) values[i] = Next();
    return tensor;
  }

 private:
  uint32_t state_;
};

}  // namespace

TinyMlp::TinyMlp() {
  Generator generator(1);
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{kHidden, kInputs},
        {kHidden},
        {kClasses, kHidden},
        {kClasses}}) {
    parameters_.push_back(generator.Fill(sizes).requires_grad_());
  }
  units_ = {std::make_shared<ModelUnit>(), std::make_shared<ModelUnit>()};
}

at::Tensor TinyMlp::Loss(const at::Tensor& input,
                         const at::Tensor& target) const {
  const at::Tensor hidden = units_[0]->Run(input, [&](const at::Tensor& x) {
    return at::tanh(at::linear(x, parameters_[0], parameters_[1]));
  });
  const at::Tensor output = units_[1]->Run(hidden, [&](const at::Tensor& x) {
    return at::linear(x, parameters_[2], parameters_[3]);
  });
  return at::cross_entropy_loss(output, target);
}

ModelTensors TinyMlp::Model() const {
  return {"mlp",
          {{"0.weight", parameters_[0]},
           {"0.bias", parameters_[1]},
           {"2.weight", parameters_[2]},
           {"2.bias", parameters_[3]}},
          {},
          {{"0", units_[0], {parameters_[0], parameters_[1]}},
           {"2", units_[1], {parameters_[2], parameters_[3]}}}};
}

at::Tensor RigInputs(int64_t begin, int64_t count) {
  at::Tensor rows = at::empty({count, kInputs});
  for (int64_t i = 0; i < count; ++i) {
    rows[i] = Generator(static_cast<uint32_t>(begin + i) * 7919U + 17U)
                  .Fill({kInputs});
  }
  return rows;
}

at::Tensor RigTargets(int64_t begin, int64_t count) {
  at::Tensor targets = at::empty({count}, at::kLong);
  for (int64_t i = 0; i < count; ++i) {
    targets[i] = ((begin + i) * 5 + (begin + i) / 3) % kClasses;
  }
  return targets;
}

void TrainRig(Backend& backend, const TinyMlp& model, Optimizer& optimizer,
              const RigRun& run) {
  const Split& split = run.split;
  backend.Prepare({model.Model()});
  backend.PrepareOptimizer(optimizer);
  GradWindow window;
  for (int64_t update = 0; update < run.updates; ++update) {
    window.Start(split.accumulation);
    for (int64_t i = 0; i < split.accumulation; ++i) {
      const int64_t begin =
          update * kPerUpdate +
          (backend.rank() * split.accumulation + i) * split.micro_batch;
      at::Tensor loss;
      backend.Forward([&] {
        loss = model.Loss(RigInputs(begin, split.micro_batch),
                          RigTargets(begin, split.micro_batch));
      });
      const auto weight = static_cast<double>(split.micro_batch);
      const double share = window.Add(weight, backend.ReferenceWeight(weight));
      backend.Backward(loss, {.share = share,
                              .sync = i + 1 == split.accumulation,
                              .weight = window.total()});
    }
    const double divisor = window.divisor(backend.FinishGradients(optimizer));
    backend.Update(optimizer, {.divisor = divisor, .clip = run.clip});
    optimizer.ZeroGrad();
    backend.EndWindow();
  }
}

void TrainRig(Backend& backend, const TinyMlp& model, const Split& split) {
  SGD optimizer(model.parameters(), {.lr = 0.05, .momentum = 0.9});
  TrainRig(backend, model, optimizer, {.split = split});
}

std::vector<at::Tensor> ReadRigParameters(const std::string& path,
                                          const std::string& title) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line != title) {
  }
  TORCH_CHECK_VALUE(file, path, " has no line \"", title, "\"");
  std::vector<at::Tensor> parameters;
  const TinyMlp shapes;
  for (const at::Tensor& like : shapes.parameters()) {
    std::getline(file, line);
    std::istringstream words(line);
    std::vector<float> values;
    for (float value = 0; words >> value;) values.push_back(value);
    parameters.push_back(at::tensor(values).reshape(like.sizes()));
  }
  return parameters;
}

double Difference(const std::vector<at::Tensor>& actual,
                  const std::vector<at::Tensor>& expected) {
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const at::Tensor a = actual[i].detach().to(at::kDouble);
    const at::Tensor b = expected[i].detach().to(at::kDouble);
    if (a.equal(b)) continue;
    const double ratio = a.sub(b).abs().max().div(b.abs().max()).item<double>();
    if (std::isnan(ratio)) return ratio;
    largest = std::max(largest, ratio);
  }
  return largest;
}

}  // namespace trainyard
