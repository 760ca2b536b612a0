#include "trainer/checkpoint/python_param_groups.h"

#include <absl/status/status.h>

#include "trainer/io/json_reader.h"

namespace trainyard {
namespace {

constexpr std::string_view kFormat = "trainyard-optimizer-1";

bool ReadNames(JsonReader& json, std::vector<std::string>& names) {
  if (!json.BeginArray()) return false;
  while (json.NextItem()) {
    if (!json.ReadString(names.emplace_back())) return false;
  }
  return json.ok();
}

bool ReadBetas(JsonReader& json, std::map<std::string, double>& fields) {
  if (!json.BeginArray()) return false;
  int count = 0;
  while (json.NextItem()) {
    const std::string name = "beta" + std::to_string(++count);
    if (!json.ReadDouble(fields[name])) return false;
  }
  return json.ok();
}

bool ReadField(JsonReader& json, double& value) {
  bool flag = false;
  if (json.Peek() != 't' && json.Peek() != 'f') return json.ReadDouble(value);
  if (!json.ReadBool(flag)) return false;
  value = flag ? 1 : 0;
  return true;
}

bool ReadGroup(JsonReader& json, PythonParamGroup& group) {
  std::map<std::string, int> seen;
  std::string key;
  if (!json.BeginObject()) return false;
  while (json.NextKey(key)) {
    if (++seen[key] > 1) return json.Fail("a setting comes twice");
    if (key == "params") {
      ReadNames(json, group.params);
    } else if (key == "betas") {
      ReadBetas(json, group.fields);
    } else if (const char next = json.Peek();
               next == 'n' || next == '"' || next == '[' || next == '{') {
      json.Skip();
    } else {
      ReadField(json, group.fields[key]);
    }
    if (!json.ok()) return false;
  }
  if (json.ok() && seen.count("params") == 0) {
    return json.Fail("a group without params");
  }
  return json.ok();
}

}  // namespace

absl::StatusOr<std::vector<PythonParamGroup>> ParsePythonParamGroups(
    std::string_view json) {
  JsonReader reader(json);
  std::vector<PythonParamGroup> groups;
  bool has_format = false;
  std::string key;
  reader.BeginObject();
  while (reader.NextKey(key)) {
    if (key == "format") {
      std::string format;
      has_format = reader.ReadString(format) && format == kFormat;
      if (!has_format) reader.Fail("a format that is not known here");
    } else if (key == "param_groups" && groups.empty()) {
      reader.BeginArray();
      while (reader.NextItem()) ReadGroup(reader, groups.emplace_back());
    } else {
      reader.Fail("an unknown or repeated key");
    }
  }
  if (reader.End() && (!has_format || groups.empty())) {
    reader.Fail("no format or no param_groups");
  }
  if (!reader.ok()) return reader.status();
  return groups;
}

}  // namespace trainyard
