#include "trainer/data/tensor_tree.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

struct Boxes {
  at::Tensor corners, label;
  auto tensors() { return std::tie(corners, label); }
};
struct Scene {
  at::Tensor image;
  Boxes boxes;
  std::map<std::string, at::Tensor> extra;
  std::vector<Boxes> more;
  auto tensors() { return std::tie(image, boxes, extra, more); }
};
struct NotAll {
  at::Tensor image;
  int number;
  auto tensors() { return std::tie(image, number); }
};

static_assert(TensorTree<at::Tensor>);
static_assert(TensorTree<std::vector<at::Tensor>>);
static_assert(TensorTree<std::map<std::string, std::vector<Boxes>>>);
static_assert(TensorTree<Scene>);
static_assert(!TensorTree<int>);
static_assert(!TensorTree<std::vector<int>>);
static_assert(!TensorTree<std::map<int, at::Tensor>>);
static_assert(!TensorTree<NotAll>);
static_assert(TensorTreeTraits<Boxes>::kIsFixed);
static_assert(!TensorTreeTraits<Scene>::kIsFixed);

Boxes BoxesOf(int value) {
  return {at::full({1}, value), at::full({1}, value + 1)};
}

Scene SceneOf() {
  return {.image = at::full({1}, 0),
          .boxes = BoxesOf(1),
          .extra = {{"weight", at::full({1}, 4)}, {"depth", at::full({1}, 3)}},
          .more = {BoxesOf(5), BoxesOf(7)}};
}

TEST(TensorTreeTest, VisitsEveryTensorInOrder) {
  Scene scene = SceneOf();
  int next = 0;
  ForEachTensor(scene, [&](at::Tensor& tensor) {
    EXPECT_EQ(tensor.item<int>(), next++);
  });
  EXPECT_EQ(next, 9);
}

TEST(TensorTreeTest, GivesReferences) {
  Scene scene = SceneOf();
  ForEachTensor(scene, [](at::Tensor& tensor) { tensor = tensor.add(10); });
  EXPECT_EQ(scene.extra.at("depth").item<int>(), 13);
  EXPECT_EQ(scene.more[1].label.item<int>(), 18);
}

TEST(TensorTreeTest, LayoutTellsTreesOfOneTypeApart) {
  Scene scene = SceneOf();
  std::string layout;
  AppendLayout(scene, layout);
  EXPECT_EQ(layout, "{depth,weight}[2]");

  scene.extra = {};
  scene.more.pop_back();
  layout.clear();
  AppendLayout(scene, layout);
  EXPECT_EQ(layout, "{}[1]");

  Boxes boxes = BoxesOf(0);
  layout.clear();
  AppendLayout(boxes, layout);
  EXPECT_EQ(layout, "");
}

}  // namespace
}  // namespace trainyard
