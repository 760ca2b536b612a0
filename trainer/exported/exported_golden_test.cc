// Exported models compute what they compute in Python: outputs, gradients, and
// the state after 20 updates. See tools/golden/exported_models.py, which also
// reads what this leaves.
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "finetuning/warm_start/export_model.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/exported/exported_model.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"

namespace trainyard {
namespace {

constexpr char kFolder[] = "trainer/exported/testdata/";

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

// Relative to the largest element.
double Difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.sub(b).abs().max().div(b.abs().max().clamp_min(1e-12)))
      .item<double>();
}

class ExportedGoldenTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<at::Tensor> Inputs() const {
    std::vector<at::Tensor> inputs;
    for (const std::string& name : model_->InputNames()) {
      inputs.push_back(Group(golden_, "input/").at(name));
    }
    return inputs;
  }

  void ExpectOutputs(const std::vector<at::Tensor>& outputs,
                     const std::string& group) const {
    const Tensors expected = Group(golden_, group);
    const std::vector<std::string> names = model_->OutputNames();
    ASSERT_EQ(names.size(), expected.size());
    for (size_t i = 0; i < names.size(); ++i) {
      EXPECT_LT(Difference(outputs[i], expected.at(names[i])), 1e-5)
          << group << names[i];
    }
  }

  static at::Tensor Loss(const std::vector<at::Tensor>& outputs) {
    at::Tensor loss = outputs[0].square().mean();
    for (size_t i = 1; i < outputs.size(); ++i) {
      loss = loss.add(outputs[i].square().mean());
    }
    return loss;
  }

  const std::shared_ptr<ExportedModel> model_ =
      OrThrow(LoadExported(std::string(kFolder) + GetParam() + ".safetensors"));
  const Safetensors golden_ = OrThrow(ReadSafetensors(
      std::string(kFolder) + GetParam() + "_golden.safetensors"));
};

TEST_P(ExportedGoldenTest, EvaluatesAsInPython) {
  const at::NoGradGuard no_gradients;
  model_->SetTraining(false);
  ExpectOutputs(model_->Run(Inputs()), "eval/");
}

TEST_P(ExportedGoldenTest, OutputsAndGradientsAreThoseOfPython) {
  at::manual_seed(2);
  const std::vector<at::Tensor> outputs = model_->Run(Inputs());
  ExpectOutputs(outputs, "train/");
  Loss(outputs).backward();
  const Tensors gradients = Group(golden_, "gradient/");
  size_t compared = 0;
  for (const NamedTensor& item : model_->Parameters()) {
    ASSERT_EQ(item.tensor.grad().defined(), gradients.contains(item.name))
        << item.name;
    if (!item.tensor.grad().defined()) continue;
    EXPECT_LT(Difference(item.tensor.grad(), gradients.at(item.name)), 1e-5)
        << item.name;
    ++compared;
  }
  EXPECT_EQ(compared, gradients.size());
  EXPECT_GE(compared, 4);
  const Tensors buffers = Group(golden_, "buffer/");
  EXPECT_EQ(model_->Buffers().size(), buffers.size());
  for (const NamedTensor& item : model_->Buffers()) {
    const at::Tensor& expected = buffers.at(item.name);
    EXPECT_EQ(item.tensor.scalar_type(), expected.scalar_type());
    if (expected.is_floating_point()) {
      EXPECT_LT(Difference(item.tensor, expected), 1e-6) << item.name;
    } else {
      EXPECT_TRUE(at::equal(item.tensor, expected)) << item.name;
    }
  }
}

TEST_P(ExportedGoldenTest, TwentyUpdatesEndAsInPython) {
  AdamW optimizer({ParamGroup{.params = model_->TrainedParameters()}},
                  {.lr = 1e-2});
  at::manual_seed(2);
  for (int update = 0; update < 20; ++update) {
    optimizer.ZeroGrad();
    Loss(model_->Run(Inputs())).backward();
    optimizer.step();
  }
  const Tensors trained = Group(golden_, "trained/");
  std::vector<NamedTensor> state = model_->Parameters();
  for (const NamedTensor& item : model_->Buffers()) state.push_back(item);
  ASSERT_EQ(state.size(), trained.size());
  for (const NamedTensor& item : state) {
    EXPECT_LT(Difference(item.tensor, trained.at(item.name)), 1e-4)
        << item.name;
  }

  // For Python to check.
  const std::string path = ::testing::TempDir() + "/" + GetParam();
  ASSERT_TRUE(
      ExportSafetensors(model_->StateDict(), path + "_state.safetensors").ok());
  const at::NoGradGuard no_gradients;
  model_->SetTraining(false);
  const std::vector<at::Tensor> outputs = model_->Run(Inputs());
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < outputs.size(); ++i) {
    named.push_back({model_->OutputNames()[i], outputs[i]});
  }
  ASSERT_TRUE(WriteSafetensors(path + "_outputs.safetensors", named).ok());
}

INSTANTIATE_TEST_SUITE_P(Models, ExportedGoldenTest,
                         ::testing::Values("mlp", "conv", "transformer"));

}  // namespace
}  // namespace trainyard
