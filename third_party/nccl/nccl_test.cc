// libtorch's CUDA build and NCCL compile and link together; on a machine with a
// GPU, a group of one rank adds a tensor there.
#include <ATen/ops/ones.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <vector>

namespace {

TEST(NcclTest, IsTheVersionOfItsHeader) {
  int version = 0;
  ASSERT_EQ(ncclGetVersion(&version), ncclSuccess);
  EXPECT_EQ(version, NCCL_VERSION_CODE);
}

TEST(NcclTest, AddsOnOneGpu) {
  if (c10::cuda::device_count() == 0) {
    GTEST_SKIP() << "1 rank needs as many CUDA devices, and there are 0";
  }
  const auto store = c10::make_intrusive<c10d::HashStore>();
  c10d::ProcessGroupNCCL group(store, /*rank=*/0, /*size=*/1,
                               c10d::ProcessGroupNCCL::Options::create());
  std::vector<at::Tensor> tensors = {
      at::ones({4}, at::TensorOptions().device(at::kCUDA, 0))};
  group.allreduce(tensors)->wait();
  EXPECT_EQ(tensors[0].sum().item<float>(), 4.0F);
}

}  // namespace
