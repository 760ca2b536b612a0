#include "finetuning/lora/adapter_config.h"

#include <absl/status/status.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "trainer/checkpoint/json_reader.h"
#include "trainer/checkpoint/json_string.h"

namespace trainyard {
namespace {

// 8 is "8", 0.1 is "0.1".
std::string Number(double value) {
  std::array<char, 32> text = {};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  for (int digits = 1; digits < 17; ++digits) {
    std::array<char, 32> shorter = {};
    std::snprintf(shorter.data(), shorter.size(), "%.*g", digits, value);
    if (std::stod(shorter.data()) == value) return shorter.data();
  }
  return text.data();
}

std::string List(const std::vector<std::string>& names) {
  if (names.empty()) return "null";
  std::string text = "[";
  for (const std::string& name : names) {
    text += (text.size() == 1 ? "\n    " : ",\n    ") + JsonQuoted(name);
  }
  return text + "\n  ]";
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
  if (value == 0 || value > 1'000'000) return reader.Fail("is no rank");
  rank = static_cast<int64_t>(value);
  return true;
}

// Settings that must be off: false, null, or nothing in them.
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
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  return std::string("{\n  \"base_model_name_or_path\": null,\n") +
         "  \"bias\": \"none\",\n  \"fan_in_fan_out\": false,\n" +
         "  \"inference_mode\": true,\n  \"init_lora_weights\": true,\n" +
         "  \"lora_alpha\": " + Number(config.alpha) +
         ",\n  \"lora_dropout\": " + Number(config.dropout) +
         ",\n  \"modules_to_save\": " + List(config.modules_to_save) +
         ",\n  \"peft_type\": \"LORA\",\n  \"r\": " +
         std::to_string(config.rank) + ",\n  \"target_modules\": " +
         (config.target_pattern.empty() ? List(config.target_modules)
                                        : JsonQuoted(config.target_pattern)) +
         ",\n  \"task_type\": null,\n  \"use_dora\": false,\n" +
         "  \"use_rslora\": " + flag(config.rank_stabilized) + "\n}\n";
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
    return absl::InvalidArgumentError("lora_alpha or lora_dropout is no such");
  }
  return config;
}

}  // namespace trainyard
