#include "trainer/exported/allowed_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>
#include <gtest/gtest.h>

#include <string>

namespace trainyard {
namespace {

TEST(AllowedOperatorsTest, AllowsWhatModelsCall) {
  EXPECT_TRUE(IsAllowedOperator("aten::add", "Tensor"));
  EXPECT_TRUE(IsAllowedOperator("aten::add_", "Tensor"));
  EXPECT_TRUE(IsAllowedOperator("aten::linear", ""));
  EXPECT_TRUE(IsAllowedOperator("aten::lstm", "input"));
  EXPECT_TRUE(IsAllowedOperator("aten::scaled_dot_product_attention", ""));
  EXPECT_TRUE(IsAllowedOperator("aten::__and__", "Tensor"));
  EXPECT_TRUE(IsAllowedOperator("aten::_unsafe_view", ""));
  EXPECT_TRUE(IsAllowedOperator("aten::zeros", ""));
}

TEST(AllowedOperatorsTest, RefusesTheRest) {
  EXPECT_FALSE(IsAllowedOperator("aten::from_file", ""));
  EXPECT_FALSE(IsAllowedOperator("aten::set_", "source_Tensor"));
  EXPECT_FALSE(IsAllowedOperator("aten::resize_", ""));
  EXPECT_FALSE(IsAllowedOperator("aten::_print", ""));
  EXPECT_FALSE(IsAllowedOperator("aten::_sparse_coo_tensor_unsafe", ""));
  EXPECT_FALSE(IsAllowedOperator("aten::embedding_bag", ""));
  EXPECT_FALSE(IsAllowedOperator("aten::threshold_backward", ""));
  EXPECT_FALSE(IsAllowedOperator("aten::add", "out"));
  EXPECT_FALSE(IsAllowedOperator("aten::mean", "names_out"));
  EXPECT_FALSE(IsAllowedOperator("aten::lstm", "data"));
  EXPECT_FALSE(IsAllowedOperator("aten::repeat_interleave", "Tensor"));
  EXPECT_FALSE(IsAllowedOperator("c10d::barrier", ""));
  EXPECT_FALSE(IsAllowedOperator("prim::add", ""));
  EXPECT_FALSE(IsAllowedOperator("add", "Tensor"));
  EXPECT_FALSE(IsAllowedOperator("aten::", ""));
  EXPECT_FALSE(IsAllowedOperator("aten::_", ""));
  EXPECT_FALSE(IsAllowedOperator("", ""));
}

// No operator of libtorch that has to do with files, storages, streams or other
// processes is on the list.
TEST(AllowedOperatorsTest, NoneTakesWhatIsNotATensorOrANumber) {
  int allowed = 0;
  for (const c10::OperatorName& name :
       c10::Dispatcher::singleton().getAllOpNames()) {
    if (!IsAllowedOperator(name.name, name.overload_name)) continue;
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op) continue;
    ++allowed;
    for (const c10::Argument& argument : op->schema().arguments()) {
      const std::string type = argument.type()->str();
      for (const char* other : {"Storage", "Stream", "file", "__torch__"}) {
        EXPECT_EQ(type.find(other), std::string::npos)
            << name.name << "." << name.overload_name << ": " << type;
      }
      EXPECT_EQ(argument.name().find("file"), std::string::npos) << name.name;
    }
  }
  EXPECT_GT(allowed, 500);
}

}  // namespace
}  // namespace trainyard
