#include "backends/grad_scaler.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tools/launch/testing/test_rank.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

at::Device Device() { return at::Device(TestDevice()); }

TEST(GradScalerTest, HeaderExample) {
  const at::Tensor w = at::ones({2}).requires_grad_();
  SGD optimizer({w}, {.lr = 1});
  const at::Tensor loss = w.sum();
  GradScaler scaler(at::kCPU);
  loss.mul(scaler.scale()).backward();
  EXPECT_EQ(w.grad()[0].item<float>(), 65536);
  scaler.Unscale(optimizer);
  EXPECT_EQ(w.grad()[0].item<float>(), 1);
  if (scaler.AllFinite(optimizer)) optimizer.step();
  scaler.Update();
  EXPECT_EQ(w[0].item<float>(), 0);
}

// The second example of the header, on two losses of which one overflows.
TEST(GradScalerTest, HeaderExampleWithoutAWait) {
  const at::Tensor w = at::ones({2}, Device()).requires_grad_();
  SGD optimizer({w}, {.lr = 1});
  GradScaler scaler(Device());
  for (const double factor : {std::numeric_limits<double>::infinity(), 1.0}) {
    const at::Tensor loss = w.sum().mul(factor);
    loss.mul(scaler.DeviceScale()).backward();
    scaler.Unscale(optimizer);
    optimizer.StepUnless(scaler.FoundInf(optimizer));
    scaler.Update();
    optimizer.ZeroGrad();
  }
  EXPECT_EQ(w[0].item<float>(), 0);
  EXPECT_EQ(scaler.scale(), 32768);
}

// A recorded sequence with infs and nans, beside Python's scaler; see
// tools/golden/grad_scaler.py.
TEST(GradScalerTest, DoesWhatPythonsDoes) {
  std::ifstream file("backends/testdata/grad_scaler.txt");
  std::string line;
  int updates = 0;
  std::vector<at::Tensor> params;
  std::deque<SGD> optimizers;
  std::unique_ptr<GradScaler> scaler;
  int64_t update = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "#") continue;
    if (first == "case") {
      std::map<std::string, double> values;
      std::string word;
      words >> word;
      while (words >> word) {
        const size_t equals = word.find('=');
        values[word.substr(0, equals)] = std::stod(word.substr(equals + 1));
      }
      scaler = std::make_unique<GradScaler>(
          Device(),
          GradScalerOptions{.init_scale = values.at("init_scale"),
                            .growth_factor = values.at("growth_factor"),
                            .backoff_factor = values.at("backoff_factor"),
                            .growth_interval = static_cast<int64_t>(
                                values.at("growth_interval"))});
      params = {at::ones({2}, Device()).requires_grad_(),
                at::ones({2}, Device()).requires_grad_()};
      optimizers.clear();
      for (const at::Tensor& param : params) {
        optimizers.emplace_back(std::vector<at::Tensor>{param},
                                SGDOptions{.lr = 0.1});
      }
      update = 0;
      continue;
    }
    std::string second;
    double scale = 0;
    int64_t tracker = 0;
    std::vector<float> expected(2);
    words >> second >> scale >> tracker >> expected[0] >> expected[1];
    const std::vector<std::string> marks = {first, second};
    for (int o = 0; o < 2; ++o) {
      const double value =
          static_cast<double>((update % 5 + 1) * (o + 1)) / 8.0;
      at::Tensor weights = at::full({2}, value, Device());
      if (marks[o] == "inf") {
        weights[0] = std::numeric_limits<float>::infinity();
      } else if (marks[o] == "nan") {
        weights[0] = std::numeric_limits<float>::quiet_NaN();
      }
      optimizers[o].ZeroGrad();
      params[o].mul(weights).sum().mul(scaler->scale()).backward();
    }
    for (int o = 0; o < 2; ++o) {
      scaler->Unscale(optimizers[o]);
      // At the ceiling a scaled gradient may overflow without a mark.
      const bool finite = scaler->AllFinite(optimizers[o]);
      EXPECT_FALSE(finite && marks[o] != "-") << line;
      if (finite) optimizers[o].step();
    }
    scaler->Update();
    EXPECT_FLOAT_EQ(static_cast<float>(scaler->scale()),
                    static_cast<float>(scale))
        << line;
    EXPECT_EQ(scaler->SaveState().Get<int64_t>("growth_tracker"), tracker);
    for (int o = 0; o < 2; ++o) {
      EXPECT_NEAR(params[o][1].item<float>(), expected[o], 1e-6) << line;
    }
    ++update;
    ++updates;
  }
  EXPECT_EQ(updates, 4 * 60);
}

TEST(GradScalerTest, ContinuesFromItsState) {
  const at::Tensor w = at::ones({1}, Device()).requires_grad_();
  SGD optimizer({w}, {.lr = 1});
  const auto update = [&](GradScaler& scaler) {
    optimizer.ZeroGrad();
    w.sum().mul(scaler.scale()).backward();
    scaler.Unscale(optimizer);
    scaler.Update();
  };
  const GradScalerOptions options = {.growth_interval = 3};
  GradScaler straight(Device(), options);
  GradScaler before(Device(), options);
  for (int i = 0; i < 5; ++i) update(straight);
  for (int i = 0; i < 2; ++i) update(before);
  GradScaler after(Device(), options);
  after.LoadState(before.SaveState());
  for (int i = 0; i < 3; ++i) update(after);
  EXPECT_EQ(after.scale(), 131072);
  EXPECT_EQ(after.scale(), straight.scale());
  EXPECT_EQ(after.SaveState().Get<int64_t>("growth_tracker"),
            straight.SaveState().Get<int64_t>("growth_tracker"));
}

TEST(GradScalerTest, RejectsWrongOrderOfCalls) {
  const at::Tensor w = at::ones({1}, Device()).requires_grad_();
  SGD optimizer({w}, {.lr = 1});
  GradScaler scaler(Device());
  EXPECT_THROW(scaler.AllFinite(optimizer), c10::ValueError);
  scaler.Unscale(optimizer);
  EXPECT_THROW(scaler.Unscale(optimizer), c10::ValueError);
  const at::Tensor half =
      at::ones({1}, at::device(Device()).dtype(at::kHalf)).requires_grad_();
  half.sum().backward();
  SGD half_optimizer({half}, {.lr = 1});
  EXPECT_THROW(scaler.Unscale(half_optimizer), c10::ValueError);
}

TEST(GradScalerTest, RejectsInvalidOptionsByName) {
  const auto message = [](const GradScalerOptions& options) -> std::string {
    try {
      GradScaler scaler(at::kCPU, options);
    } catch (const c10::ValueError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message({.init_scale = 0}), HasSubstr("init_scale is 0"));
  EXPECT_THAT(message({.growth_factor = 1}), HasSubstr("growth_factor is 1"));
  EXPECT_THAT(message({.backoff_factor = 1}), HasSubstr("backoff_factor is 1"));
  EXPECT_THAT(message({.growth_interval = 0}),
              HasSubstr("growth_interval is 0"));
}

}  // namespace
}  // namespace trainyard
