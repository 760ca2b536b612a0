#include "trainer/exported/size_ops.h"

#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace trainyard {
namespace {

c10::IValue RunOp(const std::string& op,
                  const std::vector<c10::IValue>& arguments) {
  return FindSizeOp(op)->run(arguments);
}

int64_t Whole(const std::string& op, int64_t a, int64_t b) {
  return RunOp(op, {a, b}).toInt();
}

TEST(SizeOpsTest, HeaderExample) {
  if (const SizeOp* op = FindSizeOp("sym::mul")) {
    const c10::IValue product = op->run({3, 4});
    EXPECT_EQ(product.toInt(), 12);
  }
}

TEST(SizeOpsTest, ComputesAsPython) {
  EXPECT_EQ(Whole("sym::mul", 3, -4), -12);
  EXPECT_EQ(Whole("sym::add", 3, -4), -1);
  EXPECT_EQ(Whole("sym::sub", 3, -4), 7);
  EXPECT_EQ(Whole("sym::floordiv", -7, 2), -4);
  EXPECT_EQ(Whole("sym::floordiv", 7, 2), 3);
  EXPECT_EQ(Whole("sym::mod", -7, 3), 2);
  EXPECT_EQ(Whole("sym::mod", 7, -3), -2);
  EXPECT_EQ(Whole("sym::max", 7, -3), 7);
  EXPECT_EQ(Whole("sym::min", 7, -3), -3);
  EXPECT_EQ(RunOp("sym::neg", {int64_t{7}}).toInt(), -7);
  EXPECT_EQ(RunOp("sym::truediv", {int64_t{7}, int64_t{2}}).toDouble(), 3.5);
  EXPECT_EQ(RunOp("sym::mul", {int64_t{7}, 0.5}).toDouble(), 3.5);
  EXPECT_EQ(RunOp("sym::int", {-3.5}).toInt(), -3);
  EXPECT_TRUE(RunOp("sym::le", {int64_t{2}, int64_t{2}}).toBool());
  EXPECT_FALSE(RunOp("sym::ne", {int64_t{2}, int64_t{2}}).toBool());
  EXPECT_EQ(FindSizeOp("sym::other"), nullptr);
}

TEST(SizeOpsTest, AsksTensors) {
  const at::Tensor tensor = at::zeros({2, 3});
  EXPECT_EQ(RunOp("sym::size", {tensor, int64_t{1}}).toInt(), 3);
  EXPECT_EQ(RunOp("sym::numel", {tensor}).toInt(), 6);
  const c10::List<at::Tensor> list({tensor, tensor.t()});
  EXPECT_EQ(RunOp("list::get", {list, int64_t{1}}).toTensor().size(0), 3);
  EXPECT_THROW(RunOp("list::get", {list, int64_t{2}}), c10::ValueError);
  EXPECT_THROW(RunOp("list::get", {list, int64_t{-1}}), c10::ValueError);
}

TEST(SizeOpsTest, RefusesWhatHasNoResult) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  EXPECT_THROW(Whole("sym::add", kMax, 1), c10::ValueError);
  EXPECT_THROW(Whole("sym::sub", kMin, 1), c10::ValueError);
  EXPECT_THROW(Whole("sym::mul", kMax, 2), c10::ValueError);
  EXPECT_THROW(Whole("sym::floordiv", 1, 0), c10::ValueError);
  EXPECT_THROW(Whole("sym::floordiv", kMin, -1), c10::ValueError);
  EXPECT_THROW(Whole("sym::mod", 1, 0), c10::ValueError);
  EXPECT_EQ(Whole("sym::mod", kMin, -1), 0);
  EXPECT_THROW(RunOp("sym::neg", {kMin}), c10::ValueError);
  EXPECT_THROW(RunOp("sym::int", {1e19}), c10::ValueError);
}

}  // namespace
}  // namespace trainyard
