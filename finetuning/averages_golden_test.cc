// Ema and Swa beside timm's ModelEmaV3 and torch's AveragedModel, over 500
// updates; see tools/golden/averages.py.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "finetuning/ema.h"
#include "finetuning/swa.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

// By case, by number of updates.
using Golden = std::map<std::string, std::map<int, std::vector<double>>>;

Golden Read() {
  std::ifstream file("finetuning/testdata/averages.txt");
  Golden golden;
  std::string line, name;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "case") {
      words >> name;
      continue;
    }
    std::vector<double>& values = golden[name][std::stoi(first)];
    for (double value = 0; words >> value;) values.push_back(value);
  }
  return golden;
}

class Moving {
 public:
  torch::nn::Module& operator*() { return *module_; }
  void Move(int update) {
    const at::NoGradGuard no_gradients;
    for (const at::Tensor& tensor : {w_, m_}) {
      for (int64_t i = 0; i < tensor.numel(); ++i) {
        tensor[i] = std::sin(0.37 * update + static_cast<double>(i)) +
                    static_cast<double>(i) / 4;
      }
    }
  }

 private:
  at::Tensor w_ = at::zeros({5}), m_ = at::zeros({3});
  TestCustom module_{
      TestModuleParts{.parameters = {{"w", w_}}, .buffers = {{"m", m_}}}};
};

// w, then m.
std::vector<double> Values(const ModelAverage& average) {
  std::vector<double> values;
  const std::vector<NamedTensor> state = average.NamedTensors();
  for (const size_t i : {1, 0}) {
    for (int64_t k = 0; k < state[i].tensor.numel(); ++k) {
      values.push_back(state[i].tensor[k].item<double>());
    }
  }
  return values;
}

// The largest difference in all that is golden.
void Compare(const std::string& name, Moving& model, ModelAverage& average,
             const std::function<void(int)>& update) {
  const Golden golden = Read();
  ASSERT_TRUE(golden.contains(name)) << name;
  int compared = 0;
  for (int n = 1; n <= 500; ++n) {
    model.Move(n);
    update(n);
    const auto found = golden.at(name).find(n);
    if (found == golden.at(name).end()) continue;
    const std::vector<double> values = Values(average);
    ASSERT_EQ(values.size(), found->second.size());
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], found->second[i], 1e-6)
          << name << ", update " << n << ", element " << i;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 5);
}

TEST(AveragesGoldenTest, EmaIsTimms) {
  const std::map<std::string, EmaDecayOptions> cases = {
      {"timm_constant", {.decay = 0.99}},
      {"timm_ramp", {.decay = 0.99, .warmup = EmaWarmup::kRamp}},
      {"timm_ramp_slow",
       {.decay = 0.999,
        .warmup = EmaWarmup::kRamp,
        .gamma = 12,
        .power = 0.75}}};
  for (const auto& [name, options] : cases) {
    Moving model;
    Ema ema(*model, options);
    Compare(name, model, ema, [&](int) { ema.Update(); });
  }
}

TEST(AveragesGoldenTest, EmaIsTorchs) {
  Moving model;
  Ema ema(*model, {.decay = 0.99});
  // Torch's first update is a copy.
  Compare("torch_ema", model, ema,
          [&](int n) { n == 1 ? ema.Reset() : ema.Update(); });
}

TEST(AveragesGoldenTest, SwaIsTorchs) {
  Moving model;
  Swa swa(*model);
  Compare("torch_swa", model, swa, [&](int) { swa.Update(); });
}

TEST(AveragesGoldenTest, StatisticsOfBatchNormsAreTorchs) {
  TestBatchNorm1d norm(2);
  std::vector<at::Tensor> batches;
  for (int batch = 0; batch < 4; ++batch) {
    batches.push_back(at::zeros({5, 2}));
    for (int k = 0; k < 10; ++k) {
      batches.back()[k / 2][k % 2] = std::cos(10 * batch + k);
    }
  }
  UpdateBatchNorms(*norm, [&] {
    for (const at::Tensor& batch : batches) norm->forward(batch);
  });
  const std::vector<double> golden = Read().at("batch_norm").at(4);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(norm["running_mean"][i].item<double>(), golden[i], 1e-6);
    EXPECT_NEAR(norm["running_var"][i].item<double>(), golden[2 + i], 1e-6);
  }
  EXPECT_EQ(norm["num_batches_tracked"].item<double>(), golden[4]);
}

}  // namespace
}  // namespace trainyard
