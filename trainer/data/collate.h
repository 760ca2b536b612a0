// StackItems makes a batch of items: item i becomes row i of every tensor.
//
//   const Example batch =
//       StackItems<Example>({dataset.Get(4), dataset.Get(2)});
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_DATA_COLLATE_H_
#define TRAINYARD_TRAINER_DATA_COLLATE_H_

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "trainer/data/tensor_tree.h"

namespace trainyard {

// at::stack, with an error that names the item whose shape differs.
at::Tensor StackTensors(const std::vector<at::Tensor>& tensors);

// REQUIRES: at least one item, and equal shapes in all of them.
template <TensorTree Item>
Item StackItems(std::vector<Item> items) {
  TORCH_CHECK_VALUE(!items.empty(), "StackItems: there is no item");
  if constexpr (!TensorTreeTraits<Item>::kIsFixed) {
    std::string first;
    AppendLayout(items.front(), first);
    for (size_t i = 1; i < items.size(); ++i) {
      std::string layout;
      AppendLayout(items[i], layout);
      TORCH_CHECK_VALUE(layout == first, "StackItems: item 0 has the tensors ",
                        first, ", item ", i, " has ", layout);
    }
  }
  std::vector<std::vector<at::Tensor>> columns;
  for (Item& item : items) {
    size_t column = 0;
    ForEachTensor(item, [&](at::Tensor& tensor) {
      if (column == columns.size())
        columns.emplace_back().reserve(items.size());
      columns[column++].push_back(std::move(tensor));
    });
  }
  size_t column = 0;
  ForEachTensor(items.front(), [&](at::Tensor& tensor) {
    tensor = StackTensors(columns[column++]);
  });
  return std::move(items.front());
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_COLLATE_H_
