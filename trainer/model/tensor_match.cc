#include "trainer/model/tensor_match.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <c10/core/GradMode.h>

#include <map>
#include <string_view>

#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

constexpr size_t kShown = 20;

using ByName = std::map<std::string_view, const at::Tensor*>;

ByName IndexOf(const std::vector<NamedTensor>& tensors) {
  ByName index;
  for (const NamedTensor& item : tensors) index[item.name] = &item.tensor;
  return index;
}

bool Matches(const at::Tensor& saved, const at::Tensor& wanted,
             TensorTypes types) {
  return saved.sizes() == wanted.sizes() &&
         (types == TensorTypes::kConvert ||
          saved.scalar_type() == wanted.scalar_type());
}

}  // namespace

TensorDifferences CompareTensors(const std::vector<NamedTensor>& saved,
                                 const std::vector<NamedTensor>& wanted,
                                 TensorTypes types) {
  TensorDifferences differences;
  const ByName from = IndexOf(saved);
  const ByName to = IndexOf(wanted);
  for (const auto& [name, tensor] : to) {
    const auto found = from.find(name);
    if (found == from.end()) {
      differences.missing.push_back(QuotedName(name));
    } else if (!Matches(*found->second, *tensor, types)) {
      differences.different.push_back(
          absl::StrCat(QuotedName(name), ": saved as ", KindOf(*found->second),
                       ", wanted as ", KindOf(*tensor)));
    }
  }
  for (const auto& [name, tensor] : from) {
    if (!to.contains(name)) differences.unexpected.push_back(QuotedName(name));
  }
  return differences;
}

void AppendLines(const std::string& title,
                 const std::vector<std::string>& lines, std::string& text) {
  if (lines.empty()) return;
  absl::StrAppend(&text, text.empty() ? "" : "\n", lines.size(), " ", title,
                  ":");
  for (size_t i = 0; i < lines.size() && i < kShown; ++i) {
    absl::StrAppend(&text, "\n  ", lines[i]);
  }
  if (lines.size() > kShown) {
    absl::StrAppend(&text, "\n  and ", lines.size() - kShown, " more");
  }
}

std::string KindOf(const at::Tensor& tensor) {
  return absl::StrCat(c10::toString(tensor.scalar_type()), " [",
                      absl::StrJoin(tensor.sizes(), ", "), "]");
}

std::string Describe(const TensorDifferences& differences) {
  std::string text;
  AppendLines("missing", differences.missing, text);
  AppendLines("unexpected", differences.unexpected, text);
  AppendLines("different", differences.different, text);
  return text;
}

absl::Status LoadTensors(const std::vector<NamedTensor>& saved,
                         const std::vector<NamedTensor>& wanted,
                         TensorTypes types) {
  const TensorDifferences differences = CompareTensors(saved, wanted, types);
  if (!differences.none()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the saved tensors do not fit:\n", Describe(differences)));
  }
  const c10::AutoGradMode no_gradients(false);
  const ByName from = IndexOf(saved);
  for (const NamedTensor& item : wanted) {
    item.tensor.detach().copy_(*from.at(item.name));
  }
  return absl::OkStatus();
}

}  // namespace trainyard
