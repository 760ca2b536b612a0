#include "finetuning/freezer/model_freezer.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tools/launch/testing/test_rank.h"
#include "tools/testing/error_of.h"
#include "trainer/optim/sgd.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

at::Device Device() { return at::Device(TestDevice()); }

// A block with a parameter of its own and layers that depend on the mode,
// between two linear layers.
struct Layers {
  TestLinear stem{4, 4}, linear{4, 4};
  TestBatchNorm1d norm{4};
  TestDropout dropout{0.5};
  at::Tensor scale = at::ones({4});
  TestCustom block{TestModuleParts{
      .type = "Block",
      .children = {{"linear", linear}, {"norm", norm}, {"dropout", dropout}},
      .parameters = {{"scale", scale}},
      .forward = [linear = linear, norm = norm, dropout = dropout,
                  scale = scale](const at::Tensor& input) {
        return dropout(norm(linear(input))).mul(scale);
      }}};
  TestLinear head{4, 2};
};

struct Net : Layers, TestCustom {
  Net()
      : TestCustom(
            {.children = {{"stem", stem}, {"block", block}, {"head", head}},
             .forward = [layers = Layers(*this)](const at::Tensor& input) {
               return layers.head(layers.block(layers.stem(input)));
             }}) {
    to(Device());
  }
};

std::vector<std::string> Names(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& item : tensors) names.push_back(item.name);
  return names;
}

TEST(ModelFreezerTest, ListsGroupsAndLayers) {
  Net net;
  const ModelFreezer freezer(*net);
  EXPECT_THAT(freezer.Groups(), ElementsAre("stem", "block", "head"));
  std::vector<std::string> layers;
  for (const auto& layer : freezer.Layers()) {
    layers.push_back(layer.name + " " + layer.type + " " +
                     std::to_string(layer.group));
  }
  EXPECT_THAT(layers,
              ElementsAre("stem Linear 0", "block Block 1",
                          "block.linear Linear 1", "block.norm BatchNorm1d 1",
                          "block.dropout Dropout 1", "head Linear 2"));
  EXPECT_EQ(freezer.Layers()[0].parameters, 20);
}

TEST(ModelFreezerTest, FreezesAllGroupsExceptTheLastAndNoBatchNorms) {
  Net net;
  ModelFreezer freezer(*net);
  freezer.FreezeGroups();
  EXPECT_THAT(Names(freezer.TrainableParameters()),
              ElementsAre("block.norm.weight", "block.norm.bias", "head.weight",
                          "head.bias"));
  EXPECT_TRUE(net.norm->is_training());
  // Only parameters that were frozen are returned.
  EXPECT_THAT(
      Names(freezer.UnfreezeGroups(-2, -1)),
      ElementsAre("block.scale", "block.linear.weight", "block.linear.bias"));
  EXPECT_THAT(freezer.UnfreezeGroups(1, 2), IsEmpty());
  EXPECT_EQ(freezer.UnfreezeGroups().size(), 2);
}

TEST(ModelFreezerTest, RangesAcceptNegativeIndicesAndEitherOrder) {
  Net net;
  ModelFreezer freezer(*net, {.batch_norms = BatchNorms::kFreeze});
  freezer.FreezeLayers(-1, 3);
  EXPECT_FALSE(net.head["weight"].requires_grad());
  EXPECT_FALSE(net.norm["weight"].requires_grad());
  EXPECT_TRUE(net.linear["weight"].requires_grad());
  EXPECT_THAT(Names(freezer.UnfreezeLayers(5, 5)),
              ElementsAre("head.weight", "head.bias"));
}

TEST(ModelFreezerTest, PatternsMatchParametersAndModules) {
  Net net;
  ModelFreezer freezer(*net);
  freezer.FreezeMatching("*.bias");
  EXPECT_FALSE(net.stem["bias"].requires_grad());
  EXPECT_TRUE(net.stem["weight"].requires_grad());
  EXPECT_TRUE(net.norm["bias"].requires_grad());
  freezer.FreezeMatching("bl?ck");
  EXPECT_FALSE(net.scale.requires_grad());
  EXPECT_FALSE(net.linear["weight"].requires_grad());
  EXPECT_THAT(
      Names(freezer.UnfreezeMatching("block.*")),
      ElementsAre("block.scale", "block.linear.weight", "block.linear.bias"));
}

TEST(ModelFreezerTest, StatisticsOfFrozenNormsDoNotChangeEvenAfterTrain) {
  Net net;
  ModelFreezer freezer(*net,
                       {.batch_norms = BatchNorms::kFreezeWithStatistics});
  freezer.FreezeGroups();
  const at::Tensor mean = net.norm["running_mean"].clone();
  const at::Tensor count = net.norm["num_batches_tracked"].clone();
  const auto pass = [&net] { net->forward(at::randn({8, 4}, Device())); };
  pass();
  net->train();
  pass();
  net->eval();
  net.block->train();
  pass();
  net->train();
  EXPECT_TRUE(at::equal(net.norm["running_mean"], mean));
  EXPECT_TRUE(at::equal(net.norm["num_batches_tracked"], count));
  EXPECT_TRUE(net.dropout->is_training());
  EXPECT_TRUE(net.block->is_training());
  EXPECT_EQ(net->named_parameters().size(), 9);

  freezer.UnfreezeGroups();
  EXPECT_EQ(net->children().size(), 3);
  pass();
  EXPECT_FALSE(at::equal(net.norm["running_mean"], mean));
}

TEST(ModelFreezerTest, StatisticsAreUpdatedIfOnlyParametersAreFrozen) {
  Net net;
  ModelFreezer freezer(*net, {.batch_norms = BatchNorms::kFreeze});
  freezer.FreezeGroups();
  const at::Tensor mean = net.norm["running_mean"].clone();
  net->forward(at::randn({8, 4}, Device()));
  EXPECT_FALSE(net.norm["weight"].requires_grad());
  EXPECT_FALSE(at::equal(net.norm["running_mean"], mean));
}

TEST(ModelFreezerTest, FrozenLayersCanStayInEvaluationMode) {
  Net net;
  {
    ModelFreezer freezer(*net,
                         {.batch_norms = BatchNorms::kFreezeWithStatistics,
                          .eval_frozen = true});
    freezer.FreezeGroups(1, 1);
    net->train();
    EXPECT_FALSE(net.block->is_training());  // all in it is frozen
    EXPECT_FALSE(net.dropout->is_training());
    EXPECT_TRUE(net.stem->is_training());
    freezer.UnfreezeMatching("block.linear");
    EXPECT_TRUE(net.block->is_training());
    EXPECT_TRUE(net.linear->is_training());
    EXPECT_FALSE(net.dropout->is_training());
  }
  net->train();  // the freezer is gone
  EXPECT_TRUE(net.dropout->is_training());
}

TEST(ModelFreezerTest, AFrozenParameterIsNotUpdated) {
  Net net;
  SGD optimizer(*net, {.lr = 0.1, .momentum = 0.9});
  const auto update = [&] {
    net->forward(at::randn({8, 4}, Device())).sum().backward();
    optimizer.step();  // and gradients are left where they are
  };
  update();
  ModelFreezer freezer(*net);
  freezer.FreezeMatching("stem");
  const at::Tensor before = net.stem["weight"].detach().clone();
  update();
  update();
  EXPECT_TRUE(at::equal(net.stem["weight"], before));
  freezer.UnfreezeMatching("stem");
  update();
  EXPECT_FALSE(at::equal(net.stem["weight"], before));
}

TEST(ModelFreezerTest, StateRestoresFrozenParameters) {
  const ModelFreezerOptions options = {
      .batch_norms = BatchNorms::kFreezeWithStatistics, .eval_frozen = true};
  Net net, other;
  ModelFreezer freezer(*net, options), resumed(*other, options);
  freezer.FreezeGroups();
  freezer.UnfreezeMatching("block.linear");
  resumed.FreezeGroups();  // as the program does at its start
  resumed.LoadState(freezer.SaveState());
  EXPECT_EQ(Names(resumed.TrainableParameters()),
            Names(freezer.TrainableParameters()));
  other->train();
  EXPECT_TRUE(other.linear->is_training());
  EXPECT_FALSE(other.norm->is_training());
  EXPECT_FALSE(other.dropout->is_training());

  TestSequential stranger{TestLinear(1, 1)};
  ModelFreezer strange(*stranger);
  EXPECT_THROW(strange.LoadState(freezer.SaveState()), std::invalid_argument);
}

TEST(ModelFreezerTest, ErrorsNameTheAlternatives) {
  Net net;
  ModelFreezer freezer(*net);
  EXPECT_THAT(ErrorOf<c10::IndexError>([&] { freezer.FreezeGroups(0, 3); }),
              HasSubstr("there is no group 3; the model has 3 of them, from -3 "
                        "to 2"));
  EXPECT_THAT(ErrorOf<c10::IndexError>([&] { freezer.UnfreezeLayers(-7, 0); }),
              HasSubstr("there is no layer -7"));
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([&] { freezer.FreezeMatching("blok.*"); }),
      HasSubstr("\"blok.*\" matches no parameter and no module with "
                "parameters; near it are \"block."));
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([&] { freezer.FreezeMatching("block.norm"); }),
      HasSubstr("matches only batch norms, which are not frozen by default"));
  EXPECT_EQ(freezer.TrainableParameters().size(), 9);
}

}  // namespace
}  // namespace trainyard
