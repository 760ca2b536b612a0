#include "finetuning/warm_start/warm_start.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <utility>

#include "finetuning/warm_start/all_tensors.h"
#include "finetuning/warm_start/tensor_fit.h"
#include "trainer/checkpoint/pt/weights_file.h"
#include "trainer/model/tensor_match.h"

namespace trainyard {
namespace {

using Shapes = WarmStartOptions::Shapes;
using ByName = std::map<std::string, at::Tensor>;

// The copies to make, and the report about them.
struct Plan {
  WarmStartReport report;
  std::vector<std::pair<at::Tensor, at::Tensor>> fills;  // saved, wanted
  // Tensors that cannot be loaded.
  std::vector<std::string> refused;
};

absl::StatusOr<ByName> RenamedTensors(const std::vector<NamedTensor>& saved,
                                      const std::vector<RenameRule>& rules) {
  std::vector<std::string> names;
  for (const NamedTensor& item : saved) names.push_back(item.name);
  const auto renamed = Renamed(names, rules);
  if (!renamed.ok()) return renamed.status();
  ByName tensors;
  for (size_t i = 0; i < saved.size(); ++i) {
    tensors[(*renamed)[i]] = saved[i].tensor;
  }
  return tensors;
}

// Removes the tensors that match `globs` from both sides.
absl::Status Leave(const std::vector<std::string>& globs, ByName& saved,
                   std::vector<NamedTensor>& wanted) {
  for (const std::string& glob : globs) {
    const auto in_file = std::erase_if(
        saved, [&](const auto& item) { return NamesTensor(glob, item.first); });
    const auto in_model = std::erase_if(wanted, [&](const NamedTensor& item) {
      return NamesTensor(glob, item.name);
    });
    if (in_file + in_model > 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", glob,
        "\" in leave matches no tensor of the model or of the file"));
  }
  return absl::OkStatus();
}

void Fit(const std::string& name, const at::Tensor& saved,
         const at::Tensor& wanted, const WarmStartOptions& options,
         Plan& plan) {
  const TensorFit fit = FitTensor(saved, wanted);
  const std::string line =
      absl::StrCat(name, ": ", KindOf(wanted), " from ", KindOf(saved));
  if (fit.type == TensorFit::Type::kOther ||
      (fit.type == TensorFit::Type::kConvert && !options.convert_types)) {
    plan.refused.push_back(line);
    return;
  }
  const bool slice =
      fit.shape == TensorFit::Shape::kSlice && options.shapes == Shapes::kSlice;
  if (fit.shape != TensorFit::Shape::kSame && !slice) {
    (options.shapes == Shapes::kSkip ? plan.report.skipped : plan.refused)
        .push_back(line);
    return;
  }
  if (slice) plan.report.sliced.push_back(line);
  if (fit.type == TensorFit::Type::kConvert) {
    plan.report.converted.push_back(line);
  }
  plan.report.loaded.push_back(name);
  plan.fills.emplace_back(saved, wanted);
}

bool SameMemory(const at::Tensor& a, const at::Tensor& b) {
  return a.is_alias_of(b) && a.data_ptr() == b.data_ptr() &&
         a.sizes() == b.sizes() && a.strides() == b.strides();
}

Plan Match(const ByName& saved, const std::vector<NamedTensor>& wanted,
           const WarmStartOptions& options) {
  Plan plan;
  std::vector<const NamedTensor*> open;
  ByName rest = saved;
  for (const NamedTensor& item : wanted) {
    const auto found = rest.find(item.name);
    if (found == rest.end()) {
      open.push_back(&item);
      continue;
    }
    Fit(item.name, found->second, item.tensor, options, plan);
    rest.erase(found);
  }
  for (const NamedTensor* item : open) {
    const bool tied = std::any_of(
        plan.fills.begin(), plan.fills.end(), [&](const auto& fill) {
          return SameMemory(fill.second, item->tensor);
        });
    if (!tied) plan.report.missing.push_back(item->name);
  }
  for (const auto& [name, tensor] : rest) {
    plan.report.unexpected.push_back(name);
  }
  return plan;
}

// The reasons not to load; empty if there are none.
std::string Objections(const Plan& plan, bool strict) {
  std::string text;
  AppendLines("of another shape or type", plan.refused, text);
  if (strict) {
    AppendLines("missing from the file", plan.report.missing, text);
    AppendLines("not in the model", plan.report.unexpected, text);
  } else if (plan.fills.empty() && plan.refused.empty()) {
    AppendLines("of the model, none of which the file has", plan.report.missing,
                text);
    AppendLines("of the file, none of which the model has",
                plan.report.unexpected, text);
    if (text.empty()) text = "there is no tensor to load";
  }
  return text;
}

}  // namespace

std::string Describe(const WarmStartReport& report) {
  std::string text = absl::StrCat(
      report.loaded.size(), report.loaded.size() == 1 ? " tensor" : " tensors",
      " loaded");
  AppendLines("loaded in part", report.sliced, text);
  AppendLines("converted", report.converted, text);
  AppendLines("of another shape, left unchanged", report.skipped, text);
  AppendLines("missing from the file, left unchanged", report.missing, text);
  AppendLines("not in the model, ignored", report.unexpected, text);
  return text;
}

absl::StatusOr<WarmStartReport> WarmStart(
    const std::vector<NamedTensor>& saved,
    const std::vector<NamedTensor>& wanted, const WarmStartOptions& options) {
  absl::StatusOr<ByName> renamed = RenamedTensors(saved, options.rename);
  if (!renamed.ok()) return renamed.status();
  std::vector<NamedTensor> filled = wanted;
  const absl::Status left = Leave(options.leave, *renamed, filled);
  if (!left.ok()) return left;
  Plan plan = Match(*renamed, filled, options);
  const std::string objections = Objections(plan, options.strict);
  if (!objections.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the weights do not fit the model:\n", objections));
  }
  for (const auto& [from, to] : plan.fills) FillTensor(from, to);
  return std::move(plan.report);
}

absl::StatusOr<WarmStartReport> WarmStart(const std::string& path,
                                          const Model& model,
                                          const WarmStartOptions& options) {
  const auto saved = ReadWeights(path, {.key = options.key});
  if (!saved.ok()) return saved.status();
  auto report = WarmStart(*saved, AllTensors(model), options);
  if (report.ok()) return report;
  return absl::Status(report.status().code(),
                      absl::StrCat(path, ": ", report.status().message()));
}

absl::StatusOr<WarmStartReport> WarmStart(const std::string& path,
                                          torch::nn::Module& model,
                                          const WarmStartOptions& options) {
  return WarmStart(path, *Borrowed(model), options);
}

}  // namespace trainyard
