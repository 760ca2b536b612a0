// Debian's gloo headers fit the gloo inside libtorch: a group of two ranks,
// each on a thread of its own, adds a tensor over loopback.
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <vector>

namespace {

float SumOverRanks(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                   int size) {
  auto options =
      c10d::ProcessGroupGloo::Options::create(std::chrono::seconds(30));
  options->devices.push_back(
      c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  c10d::ProcessGroupGloo group(store, rank, size, options);
  std::vector<at::Tensor> tensors = {at::full({4}, rank + 1.0)};
  group.allreduce(tensors)->wait();
  return tensors[0].sum().item<float>();
}

TEST(GlooTest, AddsOverTwoRanks) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::array<float, 2> sums = {};
  std::thread other([&] { sums[1] = SumOverRanks(store, 1, 2); });
  sums[0] = SumOverRanks(store, 0, 2);
  other.join();
  EXPECT_EQ(sums[0], 12.0F);
  EXPECT_EQ(sums[1], 12.0F);
}

}  // namespace
