#include "trainer/checkpoint/format/states.h"

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <utility>
#include <variant>

#include "trainer/checkpoint/format/frame.h"
#include "trainer/checkpoint/format/states.pb.h"
#include "trainer/checkpoint/format/wire_count.h"
#include "trainer/io/quoted_name.h"
#include "trainer/io/utf8.h"

namespace trainyard {
namespace {

using TensorPointer = std::shared_ptr<const at::Tensor>;

constexpr int kPartsField = 2;
constexpr int kValuesField = 3;
constexpr int64_t kMaxFields = 6'000'000;

template <class... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::DataLossError(absl::StrCat("the state ", parts...));
}

void SetValue(const StateValue& from, pb::PartValue& to) {
  if (const auto* whole = std::get_if<int64_t>(&from)) {
    to.set_whole(*whole);
  } else if (const auto* number = std::get_if<double>(&from)) {
    to.set_number(*number);
  } else if (const auto* text = std::get_if<std::string>(&from)) {
    to.set_text(*text);
  } else if (const auto* wholes = std::get_if<std::vector<int64_t>>(&from)) {
    to.mutable_wholes()->mutable_values()->Add(wholes->begin(), wholes->end());
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&from)) {
    to.mutable_numbers()->mutable_values()->Add(numbers->begin(),
                                                numbers->end());
  } else {
    to.set_tensor(true);
  }
}

// REQUIRES: a value that is not a tensor.
StateValue ValueOf(const pb::PartValue& from) {
  switch (from.value_case()) {
    case pb::PartValue::kWhole:
      return from.whole();
    case pb::PartValue::kNumber:
      return from.number();
    case pb::PartValue::kText:
      return from.text();
    case pb::PartValue::kWholes:
      return std::vector<int64_t>(from.wholes().values().begin(),
                                  from.wholes().values().end());
    default:
      return std::vector<double>(from.numbers().values().begin(),
                                 from.numbers().values().end());
  }
}

bool IsName(std::string_view name) {
  return ValidUtf8Prefix(name) == name.size();
}

bool IsPartName(std::string_view name) {
  return IsName(name) && !name.empty() && name.find('/') == name.npos;
}

}  // namespace

absl::StatusOr<std::string> FormatStates(const PartStates& parts,
                                         const std::string& save_uuid) {
  pb::States states;
  states.set_save_uuid(save_uuid);
  for (const auto& [name, state] : parts) {
    if (!IsPartName(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          QuotedName(name), " is not allowed as the name of a part"));
    }
    pb::PartState& part = *states.add_parts();
    part.set_name(name);
    part.set_version(state.version());
    for (const auto& [key, value] : state.values()) {
      if (!IsName(key)) {
        return absl::InvalidArgumentError(
            absl::StrCat("a value of ", QuotedName(name), " is called ",
                         QuotedName(key), ", which is not UTF-8"));
      }
      pb::PartValue& item = *part.add_values();
      item.set_name(key);
      SetValue(value, item);
    }
  }
  std::string message;
  if (states.ByteSizeLong() > kMaxFrame - 64 ||
      !states.SerializeToString(&message)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the state of the run's parts takes more than ", kMaxFrame,
                     " bytes; large things belong into tensors"));
  }
  return Framed(kStatesMagic, message);
}

absl::StatusOr<ParsedStates> ParseStates(std::string_view file) {
  const absl::StatusOr<std::string_view> message = Unframed(kStatesMagic, file);
  if (!message.ok()) return message.status();
  const WireCount count = CountOnWire(*message, kPartsField, kValuesField);
  if (count.fields > kMaxFields) return Bad("has ", count.fields, " fields");
  pb::States states;
  if (!states.ParseFromArray(message->data(),
                             static_cast<int>(message->size()))) {
    return Bad("cannot be parsed");
  }
  ParsedStates parsed{.save_uuid = states.save_uuid()};
  for (const pb::PartState& part : states.parts()) {
    if (!IsPartName(part.name())) {
      return Bad("has a part called ", QuotedName(part.name()));
    }
    State state(part.version());
    std::string last;
    for (const pb::PartValue& value : part.values()) {
      if (!IsName(value.name())) {
        return Bad("has a value called ", QuotedName(value.name()));
      }
      // In name order, so there are no duplicates.
      if (&value != &part.values(0) && value.name() <= last) {
        return Bad("has ", QuotedName(value.name()), " in the wrong place");
      }
      last = value.name();
      if (value.value_case() == pb::PartValue::VALUE_NOT_SET ||
          (value.has_tensor() && !value.tensor())) {
        return Bad("has nothing for ", QuotedName(value.name()));
      }
      if (value.has_tensor()) {
        parsed.tensors.push_back({part.name(), value.name()});
      } else {
        state.Set(value.name(), ValueOf(value));
      }
    }
    if (!parsed.parts.emplace(part.name(), std::move(state)).second) {
      return Bad("has part ", QuotedName(part.name()), " twice");
    }
  }
  return parsed;
}

std::vector<StateTensorName> TensorsOf(const PartStates& parts) {
  std::vector<StateTensorName> names;
  for (const auto& [part, state] : parts) {
    for (const auto& [name, value] : state.values()) {
      if (std::holds_alternative<TensorPointer>(value)) {
        names.push_back({part, name});
      }
    }
  }
  return names;
}

}  // namespace trainyard
