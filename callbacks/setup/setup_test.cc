// The callbacks that make a run's modules ready. Includes torch::nn: a module
// overrides a virtual function to tell where it was moved to.
#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>

#include <memory>
#include <vector>

#include "backends/make_backend.h"
#include "backends/sync_batch_norm.h"
#include "callbacks/setup/convert_sync_batch_norm.h"
#include "callbacks/setup/move_modules_to_device.h"
#include "callbacks/testing/callback_conformance.h"

namespace trainyard {
namespace {

// Tells where it was moved to: a test has no second device.
struct Moved : torch::nn::Module {
  using torch::nn::Module::to;
  void to(torch::Device device, bool) override { devices.push_back(device); }
  std::vector<torch::Device> devices;
};

TEST(MoveModulesToDeviceTest, MovesBeforeTheFirstUse) {
  const auto metric = std::make_shared<Moved>();
  MoveModulesToDevice move(at::Device("cuda:1"), {metric});
  EXPECT_TRUE(metric->devices.empty());
  Control control;
  move.OnInitEnd({}, control);
  ASSERT_EQ(metric->devices.size(), 1);
  EXPECT_EQ(metric->devices[0], at::Device("cuda:1"));
  EXPECT_THROW(MoveModulesToDevice(at::kCPU, {nullptr}), c10::ValueError);
}

TEST(ConvertSyncBatchNormTest, LeavesOneProcessAlone) {
  const std::unique_ptr<Backend> backend = MakeBackend("sp");
  torch::nn::Sequential model(torch::nn::BatchNorm1d(3));
  ConvertSyncBatchNorm convert(model.ptr(), *backend);
  Control control;
  convert.OnInitEnd({}, control);
  EXPECT_EQ(model->ptr(0)->as<SyncBatchNormImpl>(), nullptr);
  EXPECT_THROW(ConvertSyncBatchNorm(nullptr, *backend), c10::ValueError);
}

INSTANTIATE_TEST_SUITE_P(
    Setup, CallbackConformanceTest,
    ::testing::Values(
        CallbackCase{"MoveModulesToDevice",
                     [](SecondsClock) {
                       return std::make_unique<MoveModulesToDevice>(
                           at::kCPU,
                           std::vector<std::shared_ptr<torch::nn::Module>>{
                               torch::nn::BatchNorm1d(3).ptr()});
                     }},
        CallbackCase{"ConvertSyncBatchNorm",
                     [](SecondsClock) {
                       static const auto backend = MakeBackend("sp");
                       return std::make_unique<ConvertSyncBatchNorm>(
                           torch::nn::BatchNorm1d(3).ptr(), *backend);
                     }}),
    CallbackCaseName);

}  // namespace
}  // namespace trainyard
