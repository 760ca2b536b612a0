// Sharded training on a device other than the CPU, with the optimizer on the
// device and on the host.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/amp.h"
#include "backends/sharded/fsdp.h"
#include "backends/sharded/zero.h"
#include "backends/single_process.h"
#include "backends/testing/ddp_rig.h"
#include "backends/testing/rank_group.h"
#include "backends/whole_parameters.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

std::unique_ptr<Backend> Make(const std::string& name, bool offload) {
  auto one = MakeSingleProcessBackend(at::Device(TestDevice()));
  if (name == "fsdp") {
    return MakeFsdpBackend(RankGroup(), std::move(one),
                           {.bucket_bytes = 512, .offload_to_host = offload});
  }
  return MakeZeroBackend(RankGroup(), std::move(one),
                         {.stage = name == "zero1" ? 1 : 2,
                          .bucket_bytes = 512,
                          .offload_to_host = offload});
}

// Returns the parameters, on the CPU.
std::vector<at::Tensor> Train(Backend& backend, const Clip& clip = {},
                              bool expect_host = false) {
  const at::Device device = backend.device();
  const TinyMlp model;
  for (const at::Tensor& parameter : model.parameters()) {
    parameter.set_data(parameter.detach().to(device));
  }
  AdamW optimizer(model.parameters(), {.lr = 0.01, .weight_decay = 0.1});
  backend.Prepare({model.Model()});
  backend.PrepareOptimizer(optimizer);
  for (int64_t update = 0; update < 20; ++update) {
    const int64_t begin = (update * TestWorldSize() + TestRank()) * 8;
    at::Tensor loss;
    backend.Forward([&] {
      loss = model.Loss(RigInputs(begin, 8).to(device),
                        RigTargets(begin, 8).to(device));
    });
    backend.Backward(loss, {});
    backend.FinishGradients(optimizer);
    backend.Update(optimizer, {.clip = clip});
    optimizer.ZeroGrad();
    backend.EndWindow();
  }
  for (const NamedTensor& item : optimizer.NamedTensors()) {
    if (item.tensor.dim() == 0) continue;
    EXPECT_EQ(item.tensor.is_cpu(), device.is_cpu() || expect_host)
        << item.name;
  }
  const WholeParameters whole(backend);
  std::vector<at::Tensor> values;
  for (const at::Tensor& parameter : model.parameters()) {
    EXPECT_EQ(parameter.device(), device);
    values.push_back(parameter.detach().cpu().clone());
  }
  return values;
}

class OffloadTest : public ::testing::TestWithParam<std::string> {};

TEST_P(OffloadTest, EqualsTheUpdateOnTheDevice) {
  for (const Clip& clip : {Clip{}, ClipNorm(0.05)}) {
    const auto expected = Train(*Make(GetParam(), false), clip);
    const auto actual = Train(*Make(GetParam(), true), clip, true);
    EXPECT_LT(Difference(actual, expected), 1e-6);
    EXPECT_GT(Difference(actual, TinyMlp().parameters()), 0.05);
  }
}

TEST_P(OffloadTest, EqualsTheUpdateOnTheDeviceInMixedPrecision) {
  const auto train = [](bool offload) {
    return Train(
        *MakeAmpBackend(Make(GetParam(), offload), {.dtype = at::kHalf}), {},
        offload);
  };
  EXPECT_LT(Difference(train(true), train(false)), 1e-6);
}

// What is copied into the parameters, or into the held slices, is trained on.
TEST_P(OffloadTest, ParametersAreLoaded) {
  const auto train = [](bool offload) {
    const auto backend = Make(GetParam(), offload);
    const at::Tensor weight =
        RigInputs(0, 8).to(backend->device()).requires_grad_();
    AdamW optimizer({weight}, {.lr = 0.1});
    backend->Prepare({{"net", {{"weight", weight}}}});
    backend->PrepareOptimizer(optimizer);
    {
      const WholeParameters whole(*backend);
      const at::NoGradGuard no_gradients;
      weight.fill_(3);
      backend->ParametersLoaded();
    }
    at::Tensor loss;
    backend->Forward([&] { loss = weight.square().sum(); });
    backend->Backward(loss, {});
    backend->FinishGradients(optimizer);
    backend->Update(optimizer, {});
    const WholeParameters whole(*backend);
    return weight.detach().cpu().clone();
  };
  const at::Tensor offloaded = train(true);
  EXPECT_LT(Difference({offloaded}, {train(false)}), 1e-6);
  EXPECT_NEAR(offloaded.max().item<double>(), 2.9, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Backends, OffloadTest,
                         ::testing::Values("zero1", "zero2", "fsdp"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace trainyard
