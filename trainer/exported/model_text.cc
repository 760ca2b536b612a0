#include "trainer/exported/model_text.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <set>
#include <utility>

#include "trainer/io/json_reader.h"
#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

constexpr char kVersion[] = "1";

// An object with the string `name`, and one more entry that `read` reads.
template <class Read>
std::string ReadNamed(JsonReader& json, std::string_view other,
                      const Read& read) {
  std::string key, name;
  bool has_name = false, has_other = false;
  json.BeginObject();
  while (json.NextKey(key)) {
    if (key == "name" && !has_name) {
      has_name = json.ReadString(name);
    } else if (key == other && !has_other) {
      read();
      has_other = true;
    } else {
      json.Fail("an unknown key, or one that comes twice");
    }
  }
  if (!has_name || !has_other) json.Fail("an entry that lacks a key");
  return name;
}

void ReadList(JsonReader& json, const std::string& key, StateNames& state) {
  json.BeginArray();
  while (json.NextItem()) {
    if (key == "parameters") {
      StateNames::Parameter item;
      item.name =
          ReadNamed(json, "trained", [&] { json.ReadBool(item.trained); });
      state.parameters.push_back(std::move(item));
    } else if (key == "buffers") {
      StateNames::Buffer item;
      item.name = ReadNamed(json, "saved", [&] { json.ReadBool(item.saved); });
      state.buffers.push_back(std::move(item));
    } else if (key == "tied") {
      StateNames::Tied item;
      item.name = ReadNamed(json, "to", [&] { json.ReadString(item.to); });
      state.tied.push_back(std::move(item));
    } else {
      json.ReadString(state.constants.emplace_back());
    }
  }
}

absl::Status CheckNames(const StateNames& state) {
  std::set<std::string_view> names, state_names;
  const auto is_new = [&](std::string_view name) {
    return names.insert(name).second;
  };
  const auto twice = [](std::string_view name) {
    return absl::DataLossError(absl::StrCat(QuotedName(name), " comes twice"));
  };
  for (const auto& item : state.parameters) {
    if (!is_new(item.name)) return twice(item.name);
  }
  for (const auto& item : state.buffers) {
    if (!is_new(item.name)) return twice(item.name);
  }
  const std::set<std::string_view> can_be_tied = names;
  for (const auto& item : state.constants) {
    if (!is_new(item)) return twice(item);
  }
  for (const auto& item : state.tied) {
    if (!is_new(item.name)) return twice(item.name);
    if (can_be_tied.contains(item.to)) continue;
    return absl::DataLossError(absl::StrCat(QuotedName(item.name),
                                            " is tied to ", QuotedName(item.to),
                                            ", which is not there"));
  }
  return absl::OkStatus();
}

absl::Status In(std::string_view part, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(part.data(), ": ", status.message()));
}

}  // namespace

absl::StatusOr<StateNames> ParseStateNames(std::string_view text) {
  JsonReader json(text);
  StateNames state;
  std::set<std::string> seen;
  std::string key;
  json.BeginObject();
  while (json.NextKey(key)) {
    if (key != "parameters" && key != "buffers" && key != "constants" &&
        key != "tied") {
      json.Fail("an unknown key");
    } else if (!seen.insert(key).second) {
      json.Fail("the key comes twice in its object");
    } else {
      ReadList(json, key, state);
    }
  }
  json.End();
  if (!json.ok()) return json.status();
  if (absl::Status bad = CheckNames(state); !bad.ok()) return bad;
  return state;
}

absl::StatusOr<ModelText> ParseModelText(
    const std::map<std::string, std::string>& metadata) {
  const auto entry = [&](const char* key) -> std::string_view {
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string_view() : found->second;
  };
  const std::string_view version = entry("trainyard.exported");
  if (version.empty()) {
    return absl::DataLossError(
        "is not a model of tools/convert/export_model.py: its metadata lacks "
        "\"trainyard.exported\"");
  }
  if (version != kVersion) {
    return absl::UnimplementedError(
        absl::StrCat("is a model file of version ", QuotedName(version),
                     "; this program reads version ", kVersion,
                     ". Export it again with tools/convert/export_model.py of "
                     "this version"));
  }
  ModelText text;
  absl::StatusOr<StateNames> state = ParseStateNames(entry("trainyard.state"));
  if (!state.ok()) return In("list of tensors", state.status());
  text.state = *std::move(state);
  absl::StatusOr<Graph> train = ParseGraph(entry("trainyard.train"));
  if (!train.ok()) return In("training graph", train.status());
  text.train = *std::move(train);
  absl::StatusOr<Graph> eval = ParseGraph(entry("trainyard.eval"));
  if (!eval.ok()) return In("evaluation graph", eval.status());
  text.eval = *std::move(eval);
  return text;
}

}  // namespace trainyard
