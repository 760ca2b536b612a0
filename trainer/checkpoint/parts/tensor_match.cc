#include "trainer/checkpoint/parts/tensor_match.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <c10/core/GradMode.h>

#include <map>
#include <string_view>
#include <utility>

#include "trainer/checkpoint/safetensors/safetensors_layout.h"

namespace trainyard {
namespace {

constexpr size_t kShown = 20;

using ByName = std::map<std::string_view, const at::Tensor*>;

ByName IndexOf(const std::vector<NamedTensor>& tensors) {
  ByName index;
  for (const NamedTensor& item : tensors) index[item.name] = &item.tensor;
  return index;
}

bool Matches(const at::Tensor& saved, const at::Tensor& wanted) {
  return saved.sizes() == wanted.sizes() &&
         saved.scalar_type() == wanted.scalar_type();
}

// Copies what is of one name and kind; returns how many.
size_t CopyMatching(const ByName& saved,
                    const std::vector<NamedTensor>& wanted) {
  const c10::AutoGradMode no_gradients(false);
  size_t copied = 0;
  for (const NamedTensor& item : wanted) {
    const auto from = saved.find(item.name);
    if (from == saved.end() || !Matches(*from->second, item.tensor)) continue;
    item.tensor.detach().copy_(*from->second);
    ++copied;
  }
  return copied;
}

}  // namespace

TensorDifferences CompareTensors(const std::vector<NamedTensor>& saved,
                                 const std::vector<NamedTensor>& wanted) {
  TensorDifferences differences;
  const ByName from = IndexOf(saved);
  const ByName to = IndexOf(wanted);
  for (const auto& [name, tensor] : to) {
    const auto found = from.find(name);
    if (found == from.end()) {
      differences.missing.push_back(QuotedName(name));
    } else if (!Matches(*found->second, *tensor)) {
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
                         const std::vector<NamedTensor>& wanted) {
  const TensorDifferences differences = CompareTensors(saved, wanted);
  if (!differences.none()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the saved tensors do not fit:\n", Describe(differences)));
  }
  CopyMatching(IndexOf(saved), wanted);
  return absl::OkStatus();
}

absl::StatusOr<TensorDifferences> LoadMatchingTensors(
    const std::vector<NamedTensor>& saved,
    const std::vector<NamedTensor>& wanted) {
  TensorDifferences differences = CompareTensors(saved, wanted);
  if (CopyMatching(IndexOf(saved), wanted) == 0 && !wanted.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no saved tensor fits:\n", Describe(differences)));
  }
  return differences;
}

}  // namespace trainyard
