#include "backends/sharded/parameter_storage.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

// What was released has other bytes at first; fill it as a gather does.
void Fill(const at::Tensor& tensor, double value) {
  const at::NoGradGuard no_gradients;
  tensor.variable_data().fill_(value);
}

TEST(ParameterStorageTest, HeaderExample) {
  at::Tensor weight = at::ones({4});
  ReleaseStorage(weight, "weight is sharded");
  EXPECT_THAT(ErrorOf<c10::Error>([&] { weight.sum(); }),
              HasSubstr("weight is sharded"));
  RestoreStorage(weight);
  Fill(weight, 2);
  EXPECT_EQ(weight.sum().item<double>(), 8);
}

TEST(ParameterStorageTest, FreesTheMemory) {
  const at::Tensor weight = at::ones({4});
  EXPECT_EQ(StorageBytes(weight), 16);
  ReleaseStorage(weight, "");
  EXPECT_EQ(StorageBytes(weight), 0);
  EXPECT_EQ(weight.numel(), 4);
  RestoreStorage(weight);
  EXPECT_EQ(StorageBytes(weight), 16);
}

TEST(ParameterStorageTest, AliasesSeeIt) {
  const at::Tensor weight = at::ones({2, 2});
  const at::Tensor alias = weight.detach().t();
  ReleaseStorage(weight, "gone");
  EXPECT_THAT(ErrorOf<c10::Error>([&] { alias.add(1); }), HasSubstr("gone"));
  RestoreStorage(weight);
  Fill(weight, 3);
  EXPECT_EQ(alias.sum().item<double>(), 12);
}

// The memory is gone between forward and backward.
TEST(ParameterStorageTest, AutogradFindsTheRestoredValues) {
  const at::Tensor weight = at::ones({3, 2}).requires_grad_();
  const at::Tensor input = at::ones({1, 2}).requires_grad_();
  const at::Tensor loss = input.mm(weight.t()).sum();
  ReleaseStorage(weight, "gone");
  RestoreStorage(weight);
  Fill(weight, 1);
  loss.backward();
  EXPECT_EQ(input.grad().sum().item<double>(), 6);
  EXPECT_EQ(weight.grad().sum().item<double>(), 6);
}

TEST(ParameterStorageTest, KnowsAViewOfMore) {
  const at::Tensor all = at::ones({4});
  EXPECT_TRUE(OwnsStorage(all));
  EXPECT_FALSE(OwnsStorage(all.narrow(0, 0, 2)));
  EXPECT_FALSE(OwnsStorage(all.narrow(0, 2, 2)));
}

}  // namespace
}  // namespace trainyard
