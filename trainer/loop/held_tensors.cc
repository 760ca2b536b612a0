#include "trainer/loop/held_tensors.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "trainer/model/tensor_match.h"
#include "trainer/or_throw.h"

namespace trainyard {

HeldTensors HeldOf(const std::vector<NamedTensor>& tensors,
                   const Backend& backend) {
  HeldTensors held;
  for (const NamedTensor& item : tensors) {
    std::optional<TensorSlice> slice = backend.HeldSlice(item.tensor);
    if (slice) {
      slice->name = item.name;
      held.slices.push_back(*std::move(slice));
    } else {
      held.whole.push_back(item);
    }
  }
  return held;
}

HeldTensors HeldOf(const Optimizer& optimizer) {
  HeldTensors held;
  for (NamedTensor& item : optimizer.NamedTensors()) {
    const auto found =
        optimizer.slices().find(item.name.substr(0, item.name.rfind('/')));
    // Counters have no dimension, slices one.
    if (found == optimizer.slices().end() || item.tensor.dim() != 1) {
      held.whole.push_back(std::move(item));
      continue;
    }
    const ParamSlice& slice = found->second;
    held.slices.push_back({std::move(item.name), std::move(item.tensor),
                           slice.whole.sizes().vec(), slice.begin});
  }
  return held;
}

void LoadHeld(const std::vector<NamedTensor>& saved, const HeldTensors& held) {
  std::map<std::string_view, const TensorSlice*> slices;
  std::vector<NamedTensor> wanted = held.whole;
  for (const TensorSlice& slice : held.slices) {
    slices[slice.name] = &slice;
    wanted.push_back({slice.name, slice.values});
  }
  std::vector<NamedTensor> given = saved;
  for (NamedTensor& item : given) {
    const auto found = slices.find(item.name);
    if (found == slices.end() || item.tensor.sizes() != found->second->sizes) {
      continue;
    }
    item.tensor = SliceOf(item.tensor, found->second->begin,
                          found->second->values.numel());
  }
  OrThrow(LoadTensors(given, wanted));
}

}  // namespace trainyard
