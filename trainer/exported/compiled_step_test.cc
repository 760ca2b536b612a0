// Compiled steps against the interpreted graphs. The packages are for one
// release of libtorch and x86-64 with AVX2; elsewhere only the refusal is
// tested.
#include "trainer/exported/compiled_step.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "finetuning/lora/lora.h"
#include "tools/testing/error_of.h"
#include "trainer/exported/exported_model.h"
#include "trainer/exported/testing/test_runs.h"
#include "trainer/losses.h"

namespace trainyard {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kFolder[] = "trainer/exported/testdata/";

class CompiledStepTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = WhyNoTestSteps(); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }

  static std::shared_ptr<CompiledStep> Step(
      const std::string& name, const std::shared_ptr<ExportedModel>& model) {
    return LoadTestStep(name, model);
  }

  static void ExpectSameGradients(const ExportedModel& a,
                                  const ExportedModel& b) {
    const std::vector<NamedTensor> as = a.Parameters(), bs = b.Parameters();
    size_t compared = 0;
    for (size_t i = 0; i < as.size(); ++i) {
      ASSERT_EQ(as[i].tensor.grad().defined(), bs[i].tensor.grad().defined());
      if (!as[i].tensor.grad().defined()) continue;
      const at::Tensor &x = as[i].tensor.grad(), &y = bs[i].tensor.grad();
      EXPECT_LT((x - y).abs().max().item<double>(),
                1e-5 * y.abs().max().item<double>())
          << as[i].name;
      ++compared;
    }
    EXPECT_GE(compared, 4);
  }
};

TEST_F(CompiledStepTest, GradientsAreThoseOfTheInterpretedGraph) {
  const auto model = LoadTestModel("mlp"), twin = LoadTestModel("mlp");
  const auto step = Step("mlp", model);
  EXPECT_THAT(step->InputNames(), ElementsAre("x", "target"));
  for (const int64_t batch : {7, 2, 33}) {
    const at::Tensor x = at::randn({batch, 12}), target = at::randn({batch, 5});
    ASSERT_TRUE(step->Takes({x, target}));
    const CompiledStep::Output output = step->Run({x, target});
    const at::Tensor outputs = twin->forward(x);
    const at::Tensor loss = MeanSquaredError()(outputs, target);
    EXPECT_TRUE(at::allclose(output.loss, loss, 1e-5, 1e-6));
    EXPECT_TRUE(at::allclose(output.outputs.at(0), outputs, 1e-5, 1e-5));
    // Added up over the batches, each with a share.
    output.loss.mul(0.5).backward();
    loss.mul(0.5).backward();
  }
  ExpectSameGradients(*model, *twin);
}

// A library without calls of operators returns memory that its next run
// overwrites; what the caller holds must stay.
TEST_F(CompiledStepTest, ResultsOutliveTheNextRun) {
  const auto model = LoadTestModel("mlp"), twin = LoadTestModel("mlp");
  const auto step = Step("mlp_of_7", model);
  CompiledStep::Output first;
  at::Tensor expected, expected_loss;
  for (int i = 0; i < 3; ++i) {
    const at::Tensor x = at::randn({7, 12}), target = at::randn({7, 5});
    CompiledStep::Output output = step->Run({x, target});
    const at::Tensor outputs = twin->forward(x);
    const at::Tensor loss = MeanSquaredError()(outputs, target);
    EXPECT_TRUE(at::allclose(output.loss, loss, 1e-5, 1e-6));
    output.loss.backward();
    loss.backward();
    if (i == 0) {
      first = std::move(output);
      expected = outputs;
      expected_loss = loss;
    }
  }
  ExpectSameGradients(*model, *twin);
  EXPECT_TRUE(at::allclose(first.outputs.at(0), expected, 1e-5, 1e-5));
  EXPECT_TRUE(at::allclose(first.loss, expected_loss, 1e-5, 1e-6));
}

TEST_F(CompiledStepTest, ALossMayBeDroppedOrWaitForBackward) {
  const auto model = LoadTestModel("mlp"), twin = LoadTestModel("mlp");
  const auto step = Step("mlp_of_7", model);
  const at::Tensor x = at::randn({7, 12}), target = at::randn({7, 5});
  const at::Tensor late = step->Run({x, target}).loss;
  step->Run({x.mul(2), target});
  const at::Tensor later = step->Run({x.add(1), target}).loss;
  late.backward();
  later.backward();
  for (const at::Tensor& input : {x, x.add(1)}) {
    MeanSquaredError()(twin->forward(input), target).backward();
  }
  ExpectSameGradients(*model, *twin);
}

TEST_F(CompiledStepTest, BuffersAreUpdated) {
  const auto model = LoadTestModel("conv"), twin = LoadTestModel("conv");
  const auto step = Step("conv", model);
  const at::Tensor x = at::randn({6, 1, 12, 12});
  step->Run({x, at::randint(4, {6}, at::kLong)});
  twin->forward(x);
  const std::vector<NamedTensor> buffers = model->Buffers(),
                                 expected = twin->Buffers();
  ASSERT_EQ(buffers.size(), 7);
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_TRUE(at::allclose(buffers[i].tensor, expected[i].tensor, 1e-5, 1e-6))
        << buffers[i].name;
  }
}

// Dropout follows the seed.
TEST_F(CompiledStepTest, RandomNumbersFollowTheSeed) {
  const auto model = LoadTestModel("conv");
  const auto step = Step("conv", model);
  const at::Tensor x = at::randn({6, 1, 12, 12});
  const at::Tensor target = at::randint(4, {6}, at::kLong);
  const auto loss = [&](uint64_t seed) {
    at::manual_seed(seed);
    return step->Run({x, target}).loss.item<double>();
  };
  EXPECT_EQ(loss(1), loss(1));
  EXPECT_NE(loss(1), loss(2));
}

TEST_F(CompiledStepTest, AFrozenParameterGetsNoGradient) {
  const auto model = LoadTestModel("mlp");
  const auto step = Step("mlp", model);
  const auto run = [&] {
    step->Run({at::randn({4, 12}), at::randn({4, 5})}).loss.backward();
  };
  run();
  const at::Tensor weight = model->Parameters()[1].tensor;
  EXPECT_TRUE(weight.grad().defined());
  for (const NamedTensor& item : model->Parameters()) {
    item.tensor.mutable_grad().reset();
  }
  weight.set_requires_grad(false);
  run();
  EXPECT_FALSE(weight.grad().defined());
  EXPECT_TRUE(model->Parameters()[2].tensor.grad().defined());
}

TEST_F(CompiledStepTest, RefusesWhatItCannotCompute) {
  const auto model = LoadTestModel("conv");
  const auto step = Step("conv", model);
  const at::Tensor target = at::randint(4, {6}, at::kLong);
  const std::vector<at::Tensor> inputs = {at::randn({6, 1, 12, 12}), target};
  const std::vector<at::Tensor> other = {at::randn({5, 1, 12, 12}),
                                         target.slice(0, 0, 5)};
  EXPECT_TRUE(step->Takes(inputs));
  EXPECT_FALSE(step->Takes(other));
  EXPECT_FALSE(step->Takes({inputs[0]}));
  EXPECT_FALSE(step->Takes({inputs[0], target.to(at::kInt)}));
  EXPECT_THAT(ErrorOf<c10::Error>([&] { step->Run(other); }),
              HasSubstr("compiled for inputs of another number, type or size"));

  const CompiledStep::Output output = step->Run(inputs);
  output.loss.backward();
  EXPECT_THAT(ErrorOf<c10::Error>([&] { output.loss.backward(); }),
              HasSubstr("backward"));

  at::autocast::set_autocast_enabled(at::kCPU, true);
  const std::string in_autocast =
      ErrorOf<c10::Error>([&] { step->Run(inputs); });
  at::autocast::set_autocast_enabled(at::kCPU, false);
  EXPECT_THAT(in_autocast, HasSubstr("not in low precision"));

  const Lora lora(*model, {.targets = {"head"}, .rank = 2});
  EXPECT_THAT(ErrorOf<c10::Error>([&] { step->Run(inputs); }),
              HasSubstr("parameter \"head.lora_A.weight\" requires a gradient, "
                        "and the library does not compute one"));
}

TEST(CompiledFileTest, RefusesOtherFiles) {
  const auto error = [](const std::string& path) {
    return std::string(
        LoadCompiledStep(path, LoadTestModel("mlp")).status().message());
  };
  EXPECT_THAT(error("/not/there.pt2"),
              HasSubstr("/not/there.pt2: there is no such file"));
  EXPECT_THAT(error(std::string(kFolder) + "mlp.safetensors"),
              HasSubstr("is not a compiled step of"));
  const std::string cut = ::testing::TempDir() + "/cut.pt2";
  std::ofstream(cut) << "PK\x03\x04 and no more";
  EXPECT_THAT(error(cut), HasSubstr("is not a compiled step of"));
}

// Here, or a processor that it is not for.
TEST(CompiledFileTest, IsForItsModel) {
  const std::string error(
      LoadCompiledStep(std::string(kFolder) + "conv.pt2", LoadTestModel("mlp"))
          .status()
          .message());
  EXPECT_THAT(error,
              AnyOf(HasSubstr("the model has no tensor \"stem.weight\""),
                    HasSubstr("compile it again on this machine: python")));
}

}  // namespace
}  // namespace trainyard
