// A tensor tree is a tensor, a vector or a map of tensor trees, or a struct
// that lists tensor trees in tensors().
//
//   struct Boxes {
//     at::Tensor corners, label;
//     auto tensors() { return std::tie(corners, label); }
//   };
//   struct Scene {
//     at::Tensor image;
//     Boxes boxes;
//     std::map<std::string, at::Tensor> extra;
//     auto tensors() { return std::tie(image, boxes, extra); }
//   };
//   ForEachTensor(scene, [](at::Tensor& tensor) { tensor = tensor.to(at::kHalf); });
//
// Thread-safe: no state.
#ifndef TRAINYARD_TRAINER_DATA_TENSOR_TREE_H_
#define TRAINYARD_TRAINER_DATA_TENSOR_TREE_H_

#include <ATen/core/Tensor.h>

#include <concepts>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace trainyard {

// Whether a type is a tensor tree, and whether all values of the type have the
// same tensors: false for types with a vector or a map.
template <class T>
struct TensorTreeTraits {
  static constexpr bool kIsTree = false;
  static constexpr bool kIsFixed = false;
};

template <class T>
concept TensorTree = TensorTreeTraits<T>::kIsTree;

template <class T>
concept ListsTensors =
    requires(T& tree) { std::tuple_size<decltype(tree.tensors())>::value; };

template <>
struct TensorTreeTraits<at::Tensor> {
  static constexpr bool kIsTree = true;
  static constexpr bool kIsFixed = true;
};

template <TensorTree T, class Allocator>
struct TensorTreeTraits<std::vector<T, Allocator>> {
  static constexpr bool kIsTree = true;
  static constexpr bool kIsFixed = false;
};

template <TensorTree T, class Less, class Allocator>
struct TensorTreeTraits<std::map<std::string, T, Less, Allocator>> {
  static constexpr bool kIsTree = true;
  static constexpr bool kIsFixed = false;
};

template <ListsTensors T>
struct TensorTreeTraits<T> {
 private:
  using Parts = decltype(std::declval<T&>().tensors());
  template <size_t I>
  using Part =
      TensorTreeTraits<std::remove_cvref_t<std::tuple_element_t<I, Parts>>>;
  template <size_t... I>
  static constexpr bool AllTrees(std::index_sequence<I...>) {
    return (Part<I>::kIsTree && ...);
  }
  template <size_t... I>
  static constexpr bool AllFixed(std::index_sequence<I...>) {
    return (Part<I>::kIsFixed && ...);
  }
  using Indices = std::make_index_sequence<std::tuple_size_v<Parts>>;

 public:
  static constexpr bool kIsTree = AllTrees(Indices());
  static constexpr bool kIsFixed = AllFixed(Indices());
};

// Calls `function` with a reference to each tensor: in listed order for a
// struct, by position for a vector, by name for a map.
template <TensorTree T, class Function>
void ForEachTensor(T& tree, Function&& function) {
  if constexpr (std::same_as<T, at::Tensor>) {
    function(tree);
  } else if constexpr (ListsTensors<T>) {
    std::apply([&](auto&... part) { (ForEachTensor(part, function), ...); },
               tree.tensors());
  } else {
    for (auto& part : tree) {
      if constexpr (TensorTree<typename T::value_type>) {
        ForEachTensor(part, function);
      } else {
        ForEachTensor(part.second, function);
      }
    }
  }
}

// Appends a text that names the tensors of vectors and maps: "{mask,token}[2]".
// Two trees of one type have the same tensors if the texts are equal.
template <TensorTree T>
void AppendLayout(T& tree, std::string& layout) {
  if constexpr (TensorTreeTraits<T>::kIsFixed) {
    return;
  } else if constexpr (ListsTensors<T>) {
    std::apply([&](auto&... part) { (AppendLayout(part, layout), ...); },
               tree.tensors());
  } else if constexpr (TensorTree<typename T::value_type>) {
    layout += "[" + std::to_string(tree.size());
    for (auto& part : tree) AppendLayout(part, layout);
    layout += "]";
  } else {
    std::string separator = "{";
    for (auto& [name, part] : tree) {
      layout += separator + name;
      AppendLayout(part, layout);
      separator = ",";
    }
    layout += tree.empty() ? "{}" : "}";
  }
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TENSOR_TREE_H_
