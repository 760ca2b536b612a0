#include "tools/launch/testing/test_device.h"

#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <cstdlib>
#include <string>

#include "backends/testing/standin/standin.h"
#include "backends/testing/standin/standin_group.h"
#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

class StandInListener final : public ::testing::EmptyTestEventListener {
  void OnTestEnd(const ::testing::TestInfo& test) override {
    for (const std::string& error : TakeStandInErrors()) {
      ADD_FAILURE() << test.test_suite_name() << "." << test.name() << ": "
                    << error;
    }
  }
};

class EnoughDevices final : public ::testing::Environment {
 public:
  explicit EnoughDevices(int ranks) : ranks_(ranks) {}
  void SetUp() override {
    const auto devices = static_cast<int>(torch::cuda::device_count());
    if (devices < ranks_) {
      GTEST_SKIP() << ranks_ << (ranks_ == 1 ? " rank needs" : " ranks need")
                   << " as many CUDA devices, and there are " << devices;
    }
  }

 private:
  const int ranks_;
};

}  // namespace

void UseTestDevice(int argc, char** argv, int ranks) {
  const std::string flag = "--device=";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind(flag, 0) == 0) {
      SetTestDevice(argument.substr(flag.size()));
    }
  }
  const std::string device = TestDevice();
  if (device == "cpu") {
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
  } else if (device.rfind("standin", 0) == 0) {
    RegisterStandIn();
    RegisterStandInGroup();
    // After the default printer, which must see the failure before the end.
    ::testing::TestEventListeners& listeners =
        ::testing::UnitTest::GetInstance()->listeners();
    ::testing::TestEventListener* const printer =
        listeners.Release(listeners.default_result_printer());
    listeners.Append(new StandInListener);
    listeners.Append(printer);
  } else {
    ::testing::AddGlobalTestEnvironment(new EnoughDevices(ranks));
  }
}

}  // namespace trainyard
