// Adapters, and layers that are unfrozen in the middle, have the gradients of
// all processes: those of one process with all the data.
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "backends/ddp.h"
#include "backends/single_process.h"
#include "backends/testing/rank_group.h"
#include "finetuning/freezer/model_freezer.h"
#include "finetuning/lora/lora.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/model/model_tensors.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

// The same on every process.
TestSequential Model() {
  at::manual_seed(7);
  return TestSequential{TestLinear(4, 8), TestTanh(), TestLinear(8, 1)};
}

using Gradients = std::map<std::string, at::Tensor>;

// Of one pass over this process's share of the data; leaves none behind.
Gradients Pass(TestSequential& model, Backend& backend) {
  at::manual_seed(8);
  constexpr int64_t kShare = 6;
  const at::Tensor all = at::randn({2 * kShare, 4});
  const at::Tensor data = backend.num_processes() == 1
                              ? all
                              : all.narrow(0, kShare * backend.rank(), kShare);
  at::Tensor loss;
  backend.Forward([&] {
    loss = model->forward(data.to(backend.device())).square().mean();
  });
  backend.Backward(loss, {});
  Gradients gradients;
  for (const auto& item : model->named_parameters()) {
    if (!item.value().grad().defined()) continue;
    gradients[item.key()] = item.value().grad().cpu().clone();
    item.value().mutable_grad().reset();
  }
  backend.EndWindow();
  return gradients;
}

void Prepare(TestSequential& model, Backend& backend) {
  ModelTensors tensors{"net", {}};
  for (const auto& item : model->named_parameters()) {
    item.value().set_data(item.value().to(backend.device()));
    tensors.parameters.push_back({item.key(), item.value()});
  }
  backend.Prepare({tensors});
}

void ExpectClose(const Gradients& actual, const Gradients& expected,
                 size_t count) {
  ASSERT_EQ(actual.size(), count);
  ASSERT_EQ(expected.size(), count);
  for (const auto& [name, gradient] : expected) {
    EXPECT_TRUE(at::allclose(actual.at(name), gradient, 1e-5, 1e-6)) << name;
    EXPECT_GT(gradient.abs().sum().item<double>(), 0) << name;
  }
}

class FinetuningDdpTest : public testing::Test {
 protected:
  std::unique_ptr<Backend> one_ = MakeSingleProcessBackend(at::kCPU);
  std::unique_ptr<Backend> all_ = MakeDdpBackend(
      RankGroup(), MakeSingleProcessBackend(at::Device(TestDevice())), {});
  TestSequential alone_ = Model();
  TestSequential shared_ = Model();
};

TEST_F(FinetuningDdpTest, Adapters) {
  const Lora of_one(*alone_, {.targets = {"*"}, .rank = 2});
  const Lora of_all(*shared_, {.targets = {"*"}, .rank = 2});
  {
    const at::NoGradGuard no_gradients;
    for (size_t i = 0; i < of_one.Parameters().size(); ++i) {
      const at::Tensor values =
          at::randn(of_one.Parameters()[i].tensor.sizes());
      of_one.Parameters()[i].tensor.copy_(values);
      of_all.Parameters()[i].tensor.copy_(values);
    }
  }
  Prepare(shared_, *all_);  // the first process's values for all
  ExpectClose(Pass(shared_, *all_), Pass(alone_, *one_), 4);
}

TEST_F(FinetuningDdpTest, UnfrozenInTheMiddle) {
  ModelFreezer of_one(*alone_), of_all(*shared_);
  of_one.FreezeGroups();
  of_all.FreezeGroups();
  Prepare(shared_, *all_);
  ExpectClose(Pass(shared_, *all_), Pass(alone_, *one_), 2);
  of_one.UnfreezeGroups();
  of_all.UnfreezeGroups();
  ExpectClose(Pass(shared_, *all_), Pass(alone_, *one_), 4);
}

}  // namespace
}  // namespace trainyard
