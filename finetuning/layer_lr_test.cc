#include "finetuning/layer_lr.h"

#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "trainer/model/model.h"
#include "trainer/optim/adamw.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Transformer : TestCustom {
  Transformer()
      : TestCustom({.children = {{"embedding", TestEmbedding(5, 4)},
                                 {"blocks", TestSequential{TestLinear(4, 4),
                                                           TestLinear(4, 4)}},
                                 {"dropout", TestDropout()},
                                 {"norm", TestLayerNorm(4)},
                                 {"head", TestLinear(4, 2)}},
                    .parameters = {{"token", at::ones({1, 4})}}}) {}
};

struct Fields {
  double lr, weight_decay;
};

std::map<std::string, Fields> ByName(const ParamGroups& groups) {
  AdamW optimizer(groups, {.lr = 99, .weight_decay = 0.5});
  std::map<std::string, Fields> fields;
  for (size_t i = 0; i < groups.groups().size(); ++i) {
    for (const NamedTensor& item : groups.groups()[i].params) {
      fields[item.name] = {optimizer.Field(i, "lr"),
                           optimizer.Field(i, "weight_decay")};
    }
  }
  return fields;
}

TEST(LayerLrTest, HeaderExample) {
  Transformer model;
  AdamW optimizer(
      LayerLr(*model, {.lr = 1e-3, .decay = 0.65, .expand = {"blocks"}}),
      {.lr = 1e-3, .weight_decay = 0.05});
  EXPECT_DOUBLE_EQ(optimizer.Field(0, "lr"), 1e-3 * 0.65 * 0.65 * 0.65 * 0.65);
}

TEST(LayerLrTest, LowerLayersLearnMoreSlowly) {
  Transformer model;
  EXPECT_THAT(LayerNames(*model, {"blocks"}),
              ElementsAre("embedding", "blocks.0", "blocks.1", "dropout",
                          "norm", "head"));
  const auto fields =
      ByName(LayerLr(*model, {.lr = 16, .decay = 0.5, .expand = {"blocks"}}));
  ASSERT_EQ(fields.size(), 10);
  EXPECT_EQ(fields.at("head.weight").lr, 16);
  EXPECT_EQ(fields.at("norm.weight").lr, 8);  // the dropout counts for nothing
  EXPECT_EQ(fields.at("blocks.1.bias").lr, 4);
  EXPECT_EQ(fields.at("blocks.0.weight").lr, 2);
  EXPECT_EQ(fields.at("embedding.weight").lr, 1);
  EXPECT_EQ(fields.at("token").lr, 1);
}

// A model that is known by the names of its parameters.
TEST(LayerLrTest, TakesAnyModel) {
  Transformer module;
  const std::shared_ptr<Model> model = NnModel(module.ptr());
  EXPECT_THAT(LayerNames(*model, {"blocks"}),
              ElementsAre("embedding", "blocks.0", "blocks.1", "norm", "head"));
  const auto fields =
      ByName(LayerLr(*model, {.lr = 16, .decay = 0.5, .expand = {"blocks"}}));
  ASSERT_EQ(fields.size(), 10);
  EXPECT_EQ(fields.at("head.weight").lr, 16);
  EXPECT_EQ(fields.at("blocks.0.weight").lr, 2);
  EXPECT_EQ(fields.at("token").lr, 1);
  EXPECT_THROW(LayerLr(*model, {.expand = {"head"}}), c10::ValueError);
}

TEST(LayerLrTest, BiasesNormsAndMatchesOfNoDecayHaveNoWeightDecay) {
  Transformer model;
  const auto fields = ByName(LayerLr(*model, {.no_decay = {"tok*"}}));
  EXPECT_EQ(fields.at("head.weight").weight_decay, 0.5);
  EXPECT_EQ(fields.at("head.bias").weight_decay, 0);
  EXPECT_EQ(fields.at("norm.weight").weight_decay, 0);
  EXPECT_EQ(fields.at("token").weight_decay, 0);
  const auto all =
      ByName(LayerLr(*model, {.no_decay_for_bias_and_norm = false}));
  EXPECT_EQ(all.at("head.bias").weight_decay, 0.5);
}

TEST(LayerLrTest, FrozenLayersAreNotCounted) {
  Transformer model;
  for (const char* const name : {"head.weight", "head.bias"}) {
    model[name].set_requires_grad(false);
  }
  const auto fields = ByName(LayerLr(*model, {.lr = 16, .decay = 0.5}));
  EXPECT_EQ(fields.at("norm.bias").lr, 16);
  EXPECT_EQ(fields.at("blocks.1.bias").lr, 8);
  EXPECT_EQ(fields.at("blocks.0.bias").lr, 8);
}

TEST(LayerLrTest, ErrorsNameTheAlternatives) {
  Transformer model;
  const auto message = [&](const LayerLrOptions& options) -> std::string {
    try {
      LayerLr(*model, options);
    } catch (const c10::ValueError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(message({.lr = -1}), HasSubstr("lr is -1"));
  EXPECT_THAT(message({.decay = 0}), HasSubstr("decay is 0"));
  EXPECT_THAT(message({.expand = {"block"}}),
              HasSubstr("no module \"block\", which is in expand; near it are "
                        "\"blocks\""));
  EXPECT_THAT(message({.expand = {"head"}}),
              HasSubstr("\"head\" in expand has no child modules"));
  EXPECT_THAT(message({.no_decay = {"tokens"}}),
              HasSubstr("\"tokens\" in no_decay matches no parameter that is "
                        "trained; near it are \"token\""));
}

}  // namespace
}  // namespace trainyard
