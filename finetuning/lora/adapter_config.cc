#include "finetuning/lora/adapter_config.h"

#include <absl/status/status.h>

#include <cmath>
#include <set>

#include "trainer/io/json_reader.h"
#include "trainer/io/json_writer.h"

namespace trainyard {
namespace {

void WriteNames(const std::vector<std::string>& names, JsonWriter& json) {
  if (names.empty()) return json.Null();
  json.BeginArray();
  for (const std::string& name : names) json.String(name);
  json.EndArray();
}

bool ReadNames(JsonReader& reader, std::vector<std::string>& names) {
  if (reader.ReadNull()) return true;
  if (!reader.BeginArray()) return false;
  std::string name;
  while (reader.NextItem()) {
    if (!reader.ReadString(name)) return false;
    names.push_back(name);
  }
  return reader.ok();
}

bool ReadRank(JsonReader& reader, int64_t& rank) {
  uint64_t value = 0;
  if (!reader.ReadUint64(value)) return false;
  if (value == 0 || value > 1'000'000)
    return reader.Fail("is not a rank: want 1 to 1000000");
  rank = static_cast<int64_t>(value);
  return true;
}

// Settings that must be off: false, null or empty.
const std::set<std::string, std::less<>>& MustBeOff() {
  static const auto* const names = new std::set<std::string, std::less<>>{
      "alpha_pattern",  "arrow_config",      "corda_config",
      "fan_in_fan_out", "layer_replication", "lora_bias",
      "rank_pattern",   "target_parameters", "trainable_token_indices",
      "use_bdlora",     "use_dora",          "use_qalora"};
  return *names;
}

// Whether the next value is on; reads it.
bool ReadOn(JsonReader& reader, bool& on) {
  on = false;
  const char first = reader.Peek();
  if (first == 'n') return reader.ReadNull();
  if (first == 't' || first == 'f') return reader.ReadBool(on);
  if (first == '{') {
    if (!reader.BeginObject()) return false;
    for (std::string key; reader.NextKey(key);) {
      on = true;
      if (!reader.Skip()) return false;
    }
    return reader.ok();
  }
  if (first == '[') {
    if (!reader.BeginArray()) return false;
    while (reader.NextItem()) {
      on = true;
      if (!reader.Skip()) return false;
    }
    return reader.ok();
  }
  on = true;
  return reader.Skip();
}

bool ReadSetting(JsonReader& reader, const std::string& key,
                 AdapterConfig& config) {
  std::string text;
  if (key == "peft_type") {
    if (!reader.ReadString(text)) return false;
    return text == "LORA" || reader.Fail("is not LORA");
  }
  if (key == "bias") {
    if (!reader.ReadString(text)) return false;
    return text == "none" || reader.Fail("is a bias other than none");
  }
  if (key == "r") return ReadRank(reader, config.rank);
  if (key == "lora_alpha") return reader.ReadDouble(config.alpha);
  if (key == "use_rslora") return reader.ReadBool(config.rank_stabilized);
  if (key == "lora_dropout") return reader.ReadDouble(config.dropout);
  if (key == "modules_to_save") {
    return ReadNames(reader, config.modules_to_save);
  }
  if (!MustBeOff().contains(key)) return reader.Skip();
  bool on = false;
  if (!ReadOn(reader, on)) return false;
  return !on || reader.Fail("is a setting that is not supported: " + key);
}

}  // namespace

std::string ToJson(const AdapterConfig& config) {
  JsonWriter json(JsonWriter::Layout::kLines);
  json.BeginObject();
  json.Key("base_model_name_or_path").Null();
  json.Key("bias").String("none");
  json.Key("fan_in_fan_out").Bool(false);
  json.Key("inference_mode").Bool(true);
  json.Key("init_lora_weights").Bool(true);
  json.Key("lora_alpha").Number(config.alpha);
  json.Key("lora_dropout").Number(config.dropout);
  WriteNames(config.modules_to_save, json.Key("modules_to_save"));
  json.Key("peft_type").String("LORA");
  json.Key("r").Int(config.rank);
  if (config.target_pattern.empty()) {
    WriteNames(config.target_modules, json.Key("target_modules"));
  } else {
    json.Key("target_modules").String(config.target_pattern);
  }
  json.Key("task_type").Null();
  json.Key("use_dora").Bool(false);
  json.Key("use_rslora").Bool(config.rank_stabilized);
  json.EndObject();
  return json.text() + "\n";
}

absl::StatusOr<AdapterConfig> ParseAdapterConfig(std::string_view json) {
  JsonReader reader(json);
  AdapterConfig config;
  std::set<std::string> seen;
  if (reader.BeginObject()) {
    for (std::string key; reader.NextKey(key);) {
      if (!ReadSetting(reader, key, config)) break;
      seen.insert(key);
    }
  }
  if (reader.ok()) reader.End();
  if (!reader.ok()) {
    return absl::InvalidArgumentError(std::string(reader.status().message()));
  }
  for (const char* const needed : {"peft_type", "r", "lora_alpha"}) {
    if (!seen.contains(needed)) {
      return absl::InvalidArgumentError("there is no \"" + std::string(needed) +
                                        "\"");
    }
  }
  if (!std::isfinite(config.alpha) || !(config.dropout >= 0) ||
      config.dropout >= 1) {
    return absl::InvalidArgumentError(
        "lora_alpha must be finite, and lora_dropout at least 0 and below 1");
  }
  return config;
}

}  // namespace trainyard
