// AdapterConfig is the part of peft's adapter_config.json that describes the
// adapters. ToJson and ParseAdapterConfig write and read the file's text.
//
//   const AdapterConfig config = {.rank = 4, .target_modules = {"query"}};
//   const absl::StatusOr<AdapterConfig> read =
//       ParseAdapterConfig(ToJson(config));
//
// Does not depend on libtorch. Thread-safe.
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
  // Modules with adapters. peft matches each name also as the end of a full
  // name, after a dot. Written only: on reading, the names of the tensors say
  // which modules have adapters.
  std::vector<std::string> target_modules = {};
  // If not empty, a regular expression that is written instead of
  // target_modules.
  std::string target_pattern = {};
  std::vector<std::string> modules_to_save = {};
};

std::string ToJson(const AdapterConfig& config);

// Returns InvalidArgument, naming the setting, if the text is malformed or
// describes adapters that Lora does not support (DoRA, biases, several ranks).
absl::StatusOr<AdapterConfig> ParseAdapterConfig(std::string_view json);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LORA_ADAPTER_CONFIG_H_
