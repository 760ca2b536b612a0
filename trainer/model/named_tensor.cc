#include "trainer/model/named_tensor.h"

#include <algorithm>

namespace trainyard {

void SortByName(std::vector<NamedTensor>& tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const NamedTensor& a, const NamedTensor& b) {
              return a.name < b.name;
            });
}

}  // namespace trainyard
