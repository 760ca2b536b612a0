#include "trainer/optim/named_state.h"

#include <ATen/core/grad_mode.h>

#include <map>
#include <sstream>
#include <string_view>

namespace trainyard {
namespace {

std::map<std::string_view, at::Tensor> ByName(
    const std::vector<NamedTensor>& tensors) {
  std::map<std::string_view, at::Tensor> by_name;
  for (const NamedTensor& item : tensors) {
    by_name.emplace(item.name, item.tensor);
  }
  return by_name;
}

}  // namespace

std::string StateMismatch::ToString() const {
  std::string text;
  const auto add = [&text](const char* what,
                           const std::vector<std::string>& names) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (i == 0) text += (text.empty() ? "" : "; ") + std::string(what) + ": ";
      text += (i == 0 ? "" : ", ") + names[i];
    }
  };
  add("missing", missing);
  add("unexpected", unexpected);
  add("different", different);
  return text;
}

StateMismatch CompareState(const std::vector<NamedTensor>& wanted,
                           const std::vector<NamedTensor>& given) {
  const auto wanted_by_name = ByName(wanted), given_by_name = ByName(given);
  StateMismatch mismatch;
  for (const auto& [name, tensor] : wanted_by_name) {
    const auto found = given_by_name.find(name);
    if (found == given_by_name.end()) {
      mismatch.missing.emplace_back(name);
    } else if (found->second.sizes() != tensor.sizes()) {
      std::ostringstream text;
      text << name << ": wanted " << tensor.sizes() << ", given "
           << found->second.sizes();
      mismatch.different.push_back(text.str());
    }
  }
  for (const auto& [name, tensor] : given_by_name) {
    if (wanted_by_name.count(name) == 0) mismatch.unexpected.emplace_back(name);
  }
  return mismatch;
}

void CopyState(const std::vector<NamedTensor>& to,
               const std::vector<NamedTensor>& from) {
  const at::NoGradGuard no_gradients;
  const auto given = ByName(from);
  for (const NamedTensor& item : to) {
    const auto found = given.find(item.name);
    if (found != given.end() && found->second.sizes() == item.tensor.sizes()) {
      item.tensor.copy_(found->second);
    }
  }
}

}  // namespace trainyard
