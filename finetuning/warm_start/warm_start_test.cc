#include "finetuning/warm_start/warm_start.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iostream>

#include "finetuning/warm_start/all_tensors.h"
#include "finetuning/warm_start/export_model.h"
#include "finetuning/warm_start/tensor_fit.h"
#include "trainer/checkpoint/safetensors/sharded_safetensors.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Shapes = WarmStartOptions::Shapes;

struct Net {
  explicit Net(int64_t classes = 3) : head(at::zeros({classes, 4})) {}
  torch::nn::Module& operator*() { return *module; }

  at::Tensor body = at::zeros({4, 2}), head, mean = at::zeros({4});
  TestCustom module{
      TestModuleParts{.parameters = {{"body", body}, {"head", head}},
                      .buffers = {{"mean", mean}}}};
};

std::string Scratch(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

// Counts up from `first`.
at::Tensor Counting(at::IntArrayRef shape, double first) {
  return at::arange(c10::multiply_integers(shape), at::kFloat)
      .add_(first)
      .view(shape);
}

std::vector<NamedTensor> Weights() {
  return {{"net.body", Counting({4, 2}, 1)},
          {"net.head", Counting({3, 4}, 100)},
          {"net.mean", Counting({4}, 50)}};
}

std::string Refusal(const absl::StatusOr<WarmStartReport>& report) {
  return report.ok() ? "accepted" : std::string(report.status().message());
}

const RenameRule kNet = {.pattern = R"(^net\.)", .replacement = ""};

TEST(WarmStartTest, HeaderExample) {
  const std::string path = Scratch("backbone.safetensors");
  {
    Net model;
    model.body.detach().fill_(2);
    model.head.detach().fill_(2);
    const absl::Status written = ExportSafetensors(
        *model, path,
        {.rename = {{.pattern = "^", .replacement = "backbone."}}});
    ASSERT_TRUE(written.ok()) << written;
  }
  Net model;
  const absl::StatusOr<WarmStartReport> report =
      WarmStart(path, *model,
                {.rename = {{.pattern = R"(^backbone\.)", .replacement = ""}},
                 .leave = {"head"}});
  ASSERT_TRUE(report.ok()) << report.status();
  std::cout << Describe(*report);
  EXPECT_TRUE(at::equal(model.body, at::full({4, 2}, 2.0F)));
  EXPECT_TRUE(at::equal(model.head, at::zeros({3, 4})));
}

TEST(AllTensorsTest, HeaderExample) {
  Net model;
  const std::vector<NamedTensor> tensors = AllTensors(*Borrowed(*model));
  ASSERT_EQ(tensors.size(), 3);
  EXPECT_EQ(tensors[0].name, "body");
  EXPECT_EQ(tensors[2].name, "mean");
}

TEST(TensorFitTest, HeaderExample) {
  const at::Tensor saved = at::ones({2}), wanted = at::zeros({2});
  const TensorFit fit = FitTensor(saved, wanted);
  if (fit.shape == TensorFit::Shape::kSame) FillTensor(saved, wanted);
  EXPECT_TRUE(at::equal(wanted, saved));
}

TEST(WarmStartTest, LoadsAModuleFromAFileAndFromShards) {
  const std::string file = Scratch("one.safetensors");
  ASSERT_TRUE(ExportSafetensors(Weights(), file).ok());
  const std::string folder = Scratch("shards");
  mkdir(folder.c_str(), 0777);
  ASSERT_TRUE(
      ExportSafetensors(Weights(), folder, {.max_shard_bytes = 40}).ok());
  for (const std::string& path :
       {file, folder, folder + "/model.safetensors.index.json"}) {
    Net net;
    const auto report = WarmStart(path, *net, {.rename = {kNet}});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(Describe(*report), "3 tensors loaded");
    EXPECT_TRUE(at::equal(net.body, Weights()[0].tensor)) << path;
    EXPECT_TRUE(at::equal(net.mean, Weights()[2].tensor)) << path;
    EXPECT_TRUE(net.body.requires_grad());
  }
}

TEST(WarmStartTest, LoadsAFileOfPython) {
  const std::string path = "trainer/checkpoint/pt/testdata/warm_start.pt";
  for (const std::optional<std::string>& key :
       {std::optional<std::string>(),
        std::optional<std::string>("state_dict")}) {
    Net net;
    const auto report = WarmStart(path, *net, {.rename = {kNet}, .key = key});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(Describe(*report), "3 tensors loaded");
    EXPECT_TRUE(at::equal(
        net.body, at::tensor({0.0F, 4.0F, 1.0F, 5.0F, 2.0F, 6.0F, 3.0F, 7.0F})
                      .view({4, 2})));
    EXPECT_TRUE(at::equal(net.mean, at::full({4}, 2.0F)));
  }
  Net net;
  EXPECT_THAT(Refusal(WarmStart(path, *net, {.key = "model"})),
              HasSubstr("its tensors are under \"state_dict\""));
}

TEST(WarmStartTest, StrictListsEverythingThatDoesNotMatchAndChangesNothing) {
  Net net;
  const std::string path = Scratch("bad.safetensors");
  ASSERT_TRUE(ExportSafetensors(
                  std::vector<NamedTensor>{{"body", at::ones({4, 3})},
                                           {"mean", at::ones({4}, at::kLong)},
                                           {"extra", at::ones({1})}},
                  path)
                  .ok());
  EXPECT_THAT(
      Refusal(WarmStart(path, *net)),
      AllOf(HasSubstr(path), HasSubstr("body: Float [4, 2] from Float [4, 3]"),
            HasSubstr("mean: Float [4] from Long [4]"),
            HasSubstr("1 missing from the file:\n  head"),
            HasSubstr("1 not in the model:\n  extra")));
  EXPECT_TRUE(at::equal(net.body, at::zeros({4, 2})));
}

TEST(WarmStartTest, LenientReportsInstead) {
  Net net;
  const auto report =
      WarmStart({{"body", at::ones({4, 2})}, {"extra", at::ones({1})}},
                {{"body", net.body}, {"head", net.head}}, {.strict = false});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->loaded, ElementsAre("body"));
  EXPECT_THAT(report->missing, ElementsAre("head"));
  EXPECT_THAT(report->unexpected, ElementsAre("extra"));
  EXPECT_THAT(Describe(*report),
              AllOf(HasSubstr("1 tensor loaded"), HasSubstr("  extra")));
  // No match at all is an error.
  EXPECT_THAT(Refusal(WarmStart({{"extra", at::ones({1})}},
                                {{"body", net.body}}, {.strict = false})),
              HasSubstr("none of which the model has"));
}

TEST(WarmStartTest, LeavesAReplacedHead) {
  Net net(5);
  const auto report = WarmStart(
      Weights(), {{"body", net.body}, {"head", net.head}, {"mean", net.mean}},
      {.rename = {kNet}, .leave = {"head"}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->loaded, ElementsAre("body", "mean"));
  EXPECT_TRUE(at::equal(net.head, at::zeros({5, 4})));
  EXPECT_THAT(
      Refusal(WarmStart(Weights(), {{"body", net.body}}, {.leave = {"haed"}})),
      HasSubstr("\"haed\" in leave matches no tensor"));
}

TEST(WarmStartTest, ShapesAreAnErrorSkippedOrSliced) {
  const std::vector<NamedTensor> saved = {{"head", Counting({3, 4}, 100)}};
  for (const int64_t classes : {2, 5}) {
    const at::Tensor head = at::full({classes, 4}, -1.0);
    const std::vector<NamedTensor> wanted = {{"head", head}};
    const std::string line =
        "head: Float [" + std::to_string(classes) + ", 4] from Float [3, 4]";
    EXPECT_THAT(Refusal(WarmStart(saved, wanted)), HasSubstr(line));
    const auto skipped = WarmStart({saved[0], {"mean", at::ones({1})}},
                                   {wanted[0], {"mean", at::zeros({1})}},
                                   {.shapes = Shapes::kSkip});
    EXPECT_THAT(skipped.value().skipped, ElementsAre(line));
    EXPECT_TRUE(at::equal(head, at::full({classes, 4}, -1.0)));
    const auto sliced = WarmStart(saved, wanted, {.shapes = Shapes::kSlice});
    EXPECT_THAT(sliced.value().sliced, ElementsAre(line));
    EXPECT_TRUE(
        at::equal(head.slice(0, 0, 3), saved[0].tensor.slice(0, 0, classes)));
    if (classes == 5) {
      EXPECT_TRUE(at::equal(head.slice(0, 3), at::full({2, 4}, -1.0)));
    }
  }
  // Sizes that differ in two dimensions, or another number of dimensions, do
  // not fit.
  for (const auto& other : {at::zeros({2, 5}), at::zeros({12})}) {
    EXPECT_THAT(Refusal(WarmStart(saved, {{"head", other}},
                                  {.shapes = Shapes::kSlice})),
                HasSubstr("of another shape"));
  }
}

TEST(WarmStartTest, ConvertsFloatingPointTypesUnlessTurnedOff) {
  const std::vector<NamedTensor> saved = {
      {"a", Counting({4}, 1).to(at::kBFloat16)},
      {"count", at::ones({}, at::kLong)}};
  const std::vector<NamedTensor> wanted = {{"a", at::zeros({4})},
                                           {"count", at::zeros({}, at::kLong)}};
  EXPECT_THAT(Refusal(WarmStart(saved, wanted, {.convert_types = false})),
              HasSubstr("a: Float [4] from BFloat16 [4]"));
  const auto report = WarmStart(saved, wanted);
  EXPECT_THAT(report.value().converted,
              ElementsAre("a: Float [4] from BFloat16 [4]"));
  EXPECT_TRUE(at::equal(wanted[0].tensor, Counting({4}, 1)));
}

TEST(WarmStartTest, TiedWeightsNeedOneName) {
  const at::Tensor shared = at::zeros({4, 2});
  const auto report = WarmStart({{"embedding", at::ones({4, 2})}},
                                {{"embedding", shared}, {"output", shared}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->missing, IsEmpty());
}

TEST(WarmStartTest, ErrorsNameTheRuleOrTheFile) {
  Net net;
  const std::string path = Scratch("rules.safetensors");
  ASSERT_TRUE(ExportSafetensors(Weights(), path).ok());
  EXPECT_THAT(Refusal(WarmStart(path, *net, {.rename = {{"^model", ""}}})),
              AllOf(HasSubstr(path), HasSubstr("\"^model\": matches none")));
  EXPECT_THAT(Refusal(WarmStart("/not/there.safetensors", *net)),
              HasSubstr("/not/there.safetensors"));
  const std::string text = Scratch("text.safetensors");
  std::ofstream(text) << "this is no such file";
  EXPECT_THAT(Refusal(WarmStart(text, *net)), HasSubstr(text));
}

TEST(ExportModelTest, WritesWhatItReads) {
  Net net;
  ASSERT_TRUE(
      WarmStart(Weights(),
                {{"body", net.body}, {"head", net.head}, {"mean", net.mean}},
                {.rename = {kNet}})
          .ok());
  const std::string path = Scratch("export.safetensors");
  ASSERT_TRUE(ExportSafetensors(*net, path, {.rename = {{"^", "net."}}}).ok());
  const auto read = ReadShardedSafetensors(path);
  ASSERT_EQ(read.value().size(), 3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*read)[i].name, Weights()[i].name);
    EXPECT_TRUE(at::equal((*read)[i].tensor, Weights()[i].tensor));
  }
  ASSERT_TRUE(ExportSafetensors(*net, path, {.float_type = at::kHalf}).ok());
  EXPECT_EQ(ReadShardedSafetensors(path).value()[0].tensor.scalar_type(),
            at::kHalf);
}

TEST(ExportModelTest, RefusesWhatCannotBeWritten) {
  Net net;
  const auto refusal = [&](const ExportOptions& options) {
    return std::string(ExportSafetensors(*net, "out", options).message());
  };
  EXPECT_THAT(refusal({.rename = {{"^bdy", ""}}}), HasSubstr("\"^bdy\""));
  EXPECT_THAT(refusal({.float_type = at::kLong}), HasSubstr("Long"));
  EXPECT_THAT(refusal({.max_shard_bytes = 0}), HasSubstr("max_shard_bytes"));
}

}  // namespace
}  // namespace trainyard
