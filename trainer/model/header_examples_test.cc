// The examples in the headers of this folder. tools/lint/examples.py compares
// them.
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "trainer/model/model.h"
#include "trainer/model/model_tensors.h"
#include "trainer/model/named_tensor.h"
#include "trainer/model/tensor_slice.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

TEST(HeaderExamplesTest, Model) {
  TestLinear net(3, 2);
  const std::shared_ptr<Model> model = NnModel(net.ptr());
  model->SetTraining(true);
  EXPECT_EQ(model->Parameters().size(), 2);
  EXPECT_TRUE(model->Buffers().empty());
  EXPECT_EQ(NnModel(nullptr), nullptr);
}

TEST(HeaderExamplesTest, ModelTensors) {
  const at::Tensor w = at::ones({2}), m = at::ones({2});
  const ModelTensors net = {"net", {{"weight", w}}, {{"running_mean", m}}};
  EXPECT_EQ(net.buffers[0].name, "running_mean");
}

TEST(HeaderExamplesTest, NamedTensor) {
  const at::Tensor step = at::ones({});
  std::vector<NamedTensor> state = {{"weight/step", step}};
  SortByName(state);
  EXPECT_TRUE(state[0].tensor.is_same(step));
}

TEST(HeaderExamplesTest, TensorSlice) {
  const at::Tensor weight = at::arange(6).reshape({3, 2});
  const TensorSlice slice = {"weight", SliceOf(weight, 4, 2), {3, 2}, 4};
  EXPECT_TRUE(slice.values.equal(at::tensor({4, 5})));
  EXPECT_TRUE(slice.values.is_alias_of(weight));
}

}  // namespace
}  // namespace trainyard
