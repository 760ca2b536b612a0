// The text of an adapter_config.json: what Python's peft says of adapters, as
// far as it is about them and not about a machine. Free of libtorch.
//
//   AdapterConfig config = {.rank = 4, .target_modules = {"encoder.query"}};
//   absl::StatusOr<AdapterConfig> same = ParseAdapterConfig(ToJson(config));
//
// Thread-safe.
#ifndef TRAINYARD_FINETUNING_LORA_ADAPTER_CONFIG_H_
#define TRAINYARD_FINETUNING_LORA_ADAPTER_CONFIG_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct AdapterConfig {
  int64_t rank = 8;
  double alpha = 8;
  bool rank_stabilized = false;
  double dropout = 0;
  // Names, each also of modules that end in it after a point; not read, since
  // the tensors say which modules have adapters.
  std::vector<std::string> target_modules = {};
  // If not empty, a regular expression in their place.
  std::string target_pattern = {};
  std::vector<std::string> modules_to_save = {};
};

std::string ToJson(const AdapterConfig& config);

// InvalidArgument for what is no such file, and for adapters that are more than
// low-rank changes of one rank and scale: the message says which setting.
absl::StatusOr<AdapterConfig> ParseAdapterConfig(std::string_view json);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LORA_ADAPTER_CONFIG_H_
