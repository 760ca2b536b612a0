// Exported models under fsdp: gathered layer by layer, and trained as under
// ddp.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "backends/processes/run_ranks.h"
#include "backends/sharded/parameter_storage.h"
#include "backends/testing/ddp_rig.h"
#include "backends/whole_parameters.h"
#include "finetuning/lora/lora.h"
#include "trainer/exported/compiled_step.h"
#include "trainer/exported/exported_model.h"
#include "trainer/exported/testing/test_runs.h"
#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

// A model with a unit around the first layer of "mlp".
class WithUnit final : public Model {
 public:
  explicit WithUnit(std::shared_ptr<ExportedModel> model)
      : model_(std::move(model)) {}
  void SetTraining(bool training) override { model_->SetTraining(training); }
  void To(at::Device device) override { model_->To(device); }
  std::vector<NamedTensor> Parameters() const override {
    return model_->Parameters();
  }
  std::vector<NamedTensor> Buffers() const override {
    return model_->Buffers();
  }
  std::vector<UnitTensors> Units() const override {
    UnitTensors unit{"first", unit_, {}};
    for (const NamedTensor& item : model_->Parameters()) {
      if (item.name.starts_with("first.")) {
        unit.parameters.push_back(item.tensor);
      }
    }
    return {unit};
  }

 private:
  std::shared_ptr<ExportedModel> model_;
  std::shared_ptr<ModelUnit> unit_ = std::make_shared<ModelUnit>();
};

size_t Whole(const std::vector<UnitTensors>& units) {
  size_t whole = 0;
  for (const UnitTensors& unit : units) {
    if (StorageBytes(unit.parameters[0]) > 0) ++whole;
  }
  return whole;
}

// Trains on two ranks. Returns the parameters of rank 0.
using LossOf = std::function<at::Tensor(int64_t rank)>;
struct Net {
  std::shared_ptr<Model> model;
  LossOf loss;
  std::shared_ptr<void> kept = nullptr;
};
std::vector<at::Tensor> Train(const std::string& name,
                              const std::function<Net()>& make) {
  std::vector<std::vector<at::Tensor>> ranks(2);
  RunRanks(2, [&](const Rendezvous& rendezvous) {
    const auto backend = MakeBackend(name, {.rendezvous = rendezvous});
    const Net net = make();
    ParamGroup group;
    for (const NamedTensor& item : net.model->Parameters()) {
      if (item.tensor.requires_grad()) group.params.push_back(item);
    }
    AdamW optimizer({group}, {.lr = 0.01});
    const std::vector<UnitTensors> units = net.model->Units();
    backend->Prepare(
        {{"net", net.model->Parameters(), net.model->Buffers(), units}});
    for (int step = 0; step < 5; ++step) {
      at::Tensor loss;
      backend->Forward([&] { loss = net.loss(rendezvous.rank); });
      EXPECT_EQ(Whole(units), name == "fsdp" ? 0 : units.size());
      backend->Backward(loss, {});
      EXPECT_EQ(Whole(units), name == "fsdp" ? 0 : units.size());
      backend->FinishGradients(optimizer);
      backend->Update(optimizer, {});
      optimizer.ZeroGrad();
      backend->EndWindow();
    }
    const WholeParameters whole(*backend);
    for (const NamedTensor& item : net.model->Parameters()) {
      ranks[static_cast<size_t>(rendezvous.rank)].push_back(
          item.tensor.detach().clone());
    }
  });
  for (size_t i = 0; i < ranks[0].size(); ++i) {
    EXPECT_TRUE(ranks[0][i].equal(ranks[1][i])) << i;
  }
  return ranks[0];
}

void ExpectSame(const std::function<Net()>& make) {
  const std::vector<at::Tensor> fsdp = Train("fsdp", make);
  EXPECT_LT(Difference(fsdp, Train("ddp", make)), 1e-6);
  std::vector<at::Tensor> untrained;
  for (const NamedTensor& item : make().model->Parameters()) {
    untrained.push_back(item.tensor);
  }
  EXPECT_GT(Difference(fsdp, untrained), 0.01);
}

// In evaluation mode, without dropout.
Net Transformer() {
  const auto model = LoadTestModel("transformer");
  model->SetTraining(false);
  return {model, [model](int64_t rank) {
            const at::Tensor tokens =
                at::arange(12).add(rank).remainder(7).reshape({2, 6});
            const at::Tensor padding = at::zeros({2, 6}, at::kBool);
            const auto outputs = model->Run({tokens, padding});
            return outputs[0].square().mean().add(outputs[1].sum());
          }};
}

TEST(ExportedFsdpTest, TheBlocksOfATransformerAreUnits) {
  std::vector<std::string> names;
  for (const UnitTensors& unit : LoadTestModel("transformer")->Units()) {
    names.push_back(unit.name);
    EXPECT_EQ(unit.parameters.size(), 11) << unit.name;
  }
  EXPECT_THAT(names, ElementsAre("blocks.0", "blocks.1"));
}

// Its embedding is tied to its head, and in no unit.
TEST(ExportedFsdpTest, TrainsATransformerAsDdpDoes) { ExpectSame(Transformer); }

TEST(ExportedFsdpTest, TrainsAdaptersAsDdpDoes) {
  ExpectSame([] {
    Net net = Transformer();
    auto& model = static_cast<ExportedModel&>(*net.model);
    net.kept = std::make_shared<Lora>(
        model,
        LoraOptions{.targets = {"blocks.*.qkv", "blocks.*.mlp.0"}, .rank = 2});
    // Ranks are threads, which share a random generator.
    const at::NoGradGuard no_gradients;
    for (const NamedTensor& item : model.Parameters()) {
      if (item.name.find("lora_") == std::string::npos) continue;
      item.tensor.copy_(at::arange(item.tensor.numel(), at::kFloat)
                            .sin()
                            .mul(0.1)
                            .reshape(item.tensor.sizes()));
    }
    return net;
  });
}

TEST(ExportedFsdpTest, TrainsACompiledStepAsDdpDoes) {
  if (const std::string why = WhyNoTestSteps(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  ExpectSame([] {
    const auto model = std::make_shared<WithUnit>(LoadTestModel("mlp"));
    auto loaded = LoadCompiledStep("trainer/exported/testdata/mlp.pt2", model);
    if (!loaded.ok()) throw std::runtime_error(loaded.status().ToString());
    const std::shared_ptr<CompiledStep> step = *loaded;
    return Net{
        model, [step](int64_t rank) {
          const at::Tensor x =
              at::arange(4 * 12, at::kFloat).add(rank).sin().reshape({4, 12});
          return step->Run({x, x.narrow(1, 0, 5)}).loss;
        }};
  });
}

}  // namespace
}  // namespace trainyard
