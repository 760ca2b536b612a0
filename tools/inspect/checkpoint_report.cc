#include "tools/inspect/checkpoint_report.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <absl/time/time.h>

#include <map>
#include <memory>
#include <string>
#include <variant>

#include "tools/inspect/tensor_statistics.h"
#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

using TensorPointer = std::shared_ptr<const at::Tensor>;

std::string MetricsText(const std::map<std::string, double>& metrics) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : metrics) {
    parts.push_back(absl::StrFormat("%s %.6g", QuotedName(name), value));
  }
  return absl::StrJoin(parts, ", ");
}

// Shows the first values only.
template <class T>
std::string ListText(const std::vector<T>& values) {
  constexpr size_t kShown = 8;
  const bool cut = values.size() > kShown;
  std::string text = absl::StrCat(
      "[", absl::StrJoin(values.begin(),
                         values.begin() + static_cast<std::ptrdiff_t>(
                                              cut ? kShown : values.size()),
                         ", "));
  if (cut) absl::StrAppend(&text, ", … ", values.size(), " in all");
  return text + "]";
}

struct ValueText {
  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(double value) const {
    return absl::StrFormat("%.17g", value);
  }
  std::string operator()(const std::string& value) const {
    return QuotedName(value);
  }
  std::string operator()(const TensorPointer& value) const {
    return DescribeTensor(*value);
  }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    return ListText(values);
  }
};

// Everything that is compared as text, by name. Lists and tensors include all
// of their values, unlike the printed text.
std::map<std::string, std::string> Texts(const Checkpoint& checkpoint) {
  std::map<std::string, std::string> texts;
  texts["step"] = absl::StrCat(checkpoint.step);
  texts["epoch"] = absl::StrCat(checkpoint.epoch);
  texts["samples"] = absl::StrCat(checkpoint.samples);
  for (const auto& [name, value] : checkpoint.metrics) {
    texts["metric " + QuotedName(name)] = absl::StrFormat("%.17g", value);
  }
  for (const auto& [name, value] : checkpoint.config) {
    texts["setting " + QuotedName(name)] = QuotedName(value);
  }
  for (const auto& [part, state] : checkpoint.parts) {
    texts["part " + QuotedName(part)] =
        absl::StrCat("version ", state.version());
    for (const auto& [name, value] : state.values()) {
      const std::string key =
          absl::StrCat("part ", QuotedName(part), ", ", QuotedName(name));
      const auto* tensor = std::get_if<TensorPointer>(&value);
      texts[key] = std::visit(ValueText(), value);
      if (tensor != nullptr) {
        absl::StrAppend(&texts[key], " crc32c ", TensorCrc(**tensor));
      } else if (const auto* wholes =
                     std::get_if<std::vector<int64_t>>(&value)) {
        texts[key] = absl::StrJoin(*wholes, ", ");
      } else if (const auto* numbers =
                     std::get_if<std::vector<double>>(&value)) {
        texts[key] = absl::StrJoin(*numbers, ", ");
      }
    }
  }
  return texts;
}

std::map<std::string, at::Tensor> TensorsByName(const Checkpoint& checkpoint) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [group, items] : checkpoint.tensors) {
    for (const NamedTensor& item : items) {
      tensors[absl::StrCat(group, " ", QuotedName(item.name))] = item.tensor;
    }
  }
  return tensors;
}

// Calls differ(key, one or null, other or null) for each key whose values are
// not same(one, other). Returns whether there is no such key.
template <class Map, class Same, class Differ>
bool Compare(const Map& one, const Map& other, Same same, Differ differ) {
  bool equal = true;
  for (const auto& [key, value] : one) {
    const auto found = other.find(key);
    if (found != other.end() && same(value, found->second)) continue;
    equal = false;
    differ(key, &value, found == other.end() ? nullptr : &found->second);
  }
  for (const auto& [key, value] : other) {
    if (one.contains(key)) continue;
    equal = false;
    differ(key, nullptr, &value);
  }
  return equal;
}

}  // namespace

void PrintSteps(const std::vector<StepInfo>& steps, std::ostream& out) {
  out << absl::StrFormat("%10s %7s %14s  %-19s  %s\n", "step", "epoch", "bytes",
                         "saved (UTC)", "metrics");
  for (const StepInfo& step : steps) {
    const std::string time = absl::FormatTime(
        "%Y-%m-%d %H:%M:%S", absl::FromUnixMicros(step.wall_time_us),
        absl::UTCTimeZone());
    out << absl::StrFormat(
        "%10d %7d %14d  %-19s  %s%s\n", step.step, step.epoch, step.bytes, time,
        MetricsText(step.metrics), step.finished ? " (finished)" : "");
  }
}

void PrintCheckpoint(const Checkpoint& checkpoint, std::ostream& out) {
  out << "step " << checkpoint.step << ", epoch " << checkpoint.epoch << ", "
      << checkpoint.samples << " samples, written by " << checkpoint.world_size
      << (checkpoint.world_size == 1 ? " process" : " processes")
      << (checkpoint.finished ? ", finished" : "") << "\n";
  if (!checkpoint.metrics.empty()) {
    out << "metrics: " << MetricsText(checkpoint.metrics) << "\n";
  }
  for (const auto& [name, value] : checkpoint.config) {
    out << "setting " << QuotedName(name) << ": " << QuotedName(value) << "\n";
  }
  for (const auto& [part, state] : checkpoint.parts) {
    out << "part " << QuotedName(part) << ", version " << state.version()
        << "\n";
    for (const auto& [name, value] : state.values()) {
      out << "  " << QuotedName(name) << ": " << std::visit(ValueText(), value)
          << "\n";
    }
  }
  for (const auto& [group, tensors] : checkpoint.tensors) {
    out << "tensors of " << QuotedName(group) << ": " << tensors.size() << "\n";
    for (const NamedTensor& item : tensors) {
      out << "  " << QuotedName(item.name) << ": "
          << DescribeTensor(item.tensor) << "\n";
    }
  }
}

bool PrintDifferences(const Checkpoint& one, const Checkpoint& other,
                      std::ostream& out) {
  const bool same_values = Compare(
      Texts(one), Texts(other),
      [](const std::string& a, const std::string& b) { return a == b; },
      [&out](const std::string& key, const std::string* a,
             const std::string* b) {
        out << key << ": " << (a == nullptr ? "absent" : *a) << " | "
            << (b == nullptr ? "absent" : *b) << "\n";
      });
  const bool same_tensors = Compare(
      TensorsByName(one), TensorsByName(other),
      [](const at::Tensor& a, const at::Tensor& b) {
        return SameTensors(a, b);
      },
      [&out](const std::string& key, const at::Tensor* a, const at::Tensor* b) {
        out << key << ": "
            << (a == nullptr || b == nullptr
                    ? std::string(a == nullptr ? "only in the second"
                                               : "only in the first")
                    : DescribeDifference(*a, *b))
            << "\n";
      });
  return same_values && same_tensors;
}

}  // namespace trainyard
