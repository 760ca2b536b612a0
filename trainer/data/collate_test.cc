#include "trainer/data/collate.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing/error_of.h"
#include "trainer/data/batch.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using Named = std::map<std::string, at::Tensor>;

TEST(StackItemsTest, ItemsBecomeRows) {
  const Example batch = StackItems<Example>(
      {{at::arange(3), at::full({}, 1)}, {at::arange(3, 6), at::full({}, 2)}});
  EXPECT_TRUE(at::equal(batch.input, at::arange(6).view({2, 3})));
  EXPECT_TRUE(at::equal(batch.target, at::arange(1, 3)));
}

TEST(StackItemsTest, StacksMapsByName) {
  const Named batch =
      StackItems<Named>({{{"a", at::full({}, 1)}}, {{"a", at::full({}, 2)}}});
  EXPECT_TRUE(at::equal(batch.at("a"), at::arange(1, 3)));
}

TEST(StackItemsTest, UndefinedTensorsStayUndefined) {
  const Example batch =
      StackItems<Example>({{at::zeros({3}), {}}, {at::zeros({3}), {}}});
  EXPECT_FALSE(batch.target.defined());
}

template <class Item>
std::string StackError(std::vector<Item> items) {
  return ErrorOf<c10::ValueError>([&] { StackItems(std::move(items)); });
}

TEST(StackItemsTest, ErrorNamesTheItemThatDiffers) {
  EXPECT_THAT(StackError<at::Tensor>({}), HasSubstr("no item"));
  EXPECT_THAT(StackError<at::Tensor>({at::zeros({2}), at::zeros({3})}),
              HasSubstr("item 0 has shape [2], item 1 has [3]"));
  EXPECT_THAT(
      StackError<Named>({{{"a", at::zeros({})}}, {{"b", at::zeros({})}}}),
      HasSubstr("item 0 has the tensors {a}, item 1 has {b}"));
  EXPECT_THAT(StackError<at::Tensor>({at::Tensor(), at::zeros({3})}),
              HasSubstr("item 0 leaves out a tensor that item 1 has"));
  EXPECT_THAT(StackError<at::Tensor>({at::zeros({3}), at::Tensor()}),
              HasSubstr("item 1 leaves out a tensor that item 0 has"));
}

}  // namespace
}  // namespace trainyard
