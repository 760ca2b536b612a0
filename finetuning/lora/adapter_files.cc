#include "finetuning/lora/adapter_files.h"

#include <ATen/core/grad_mode.h>
#include <absl/strings/str_cat.h>
#include <c10/util/Exception.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "finetuning/lora/adapter_config.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/io/atomic_file.h"
#include "trainer/model/tensor_match.h"

namespace trainyard {
namespace {

constexpr char kPrefix[] = "base_model.model.";
constexpr std::string_view kWeight = ".weight";

std::string TensorsPath(const std::string& folder) {
  return folder + "/adapter_model.safetensors";
}
std::string ConfigPath(const std::string& folder) {
  return folder + "/adapter_config.json";
}

// peft's name: "fc.lora_A.weight" is "base_model.model.fc.lora_A.weight".
// Adapters of embeddings are parameters in peft, so they have no ".weight".
std::string PeftName(std::string name) {
  if (name.find(".lora_embedding_") != std::string::npos) {
    name.resize(name.size() - kWeight.size());
  }
  return kPrefix + name;
}

std::vector<NamedTensor> PeftTensors(const Lora& lora) {
  std::vector<NamedTensor> tensors;
  for (const NamedTensor& item : lora.Parameters()) {
    tensors.push_back({PeftName(item.name), item.tensor.detach()});
  }
  return tensors;
}

// peft would also adapt a module whose name ends in the name of an adapted one.
bool IsAmbiguous(const Lora& lora) {
  const std::vector<std::string> layers = lora.AdaptedLayers();
  const std::set<std::string> adapted(layers.begin(), layers.end());
  for (const LoraModel::Layer& item : lora.model().layers()) {
    if (adapted.contains(item.name)) continue;
    for (const std::string& layer : layers) {
      if (item.name.ends_with("." + layer)) return true;
    }
  }
  return false;
}

// A regular expression that matches exactly these names.
std::string ExactPattern(const std::vector<std::string>& names) {
  std::string pattern;
  for (const std::string& name : names) {
    if (!pattern.empty()) pattern += "|";
    for (const char c : name) {
      if (c == '.') pattern += '\\';
      pattern += c;
    }
  }
  return pattern;
}

absl::StatusOr<AdapterConfig> ReadConfig(const std::string& folder) {
  const std::string path = ConfigPath(folder);
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return absl::NotFoundError(path + ": cannot read the file");
  absl::StatusOr<AdapterConfig> config = ParseAdapterConfig(text.str());
  if (config.ok()) return config;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", config.status().message()));
}

std::string DescribeScale(int64_t rank, double alpha, bool rank_stabilized) {
  return absl::StrCat("rank ", rank, " and alpha ", alpha,
                      rank_stabilized ? ", rank-stabilized" : "");
}

}  // namespace

absl::Status SaveAdapters(const Lora& lora, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat(folder, ": cannot create the folder: ", error.message()));
  }
  const absl::Status written = WriteSafetensors(
      TensorsPath(folder), PeftTensors(lora), {{"format", "pt"}});
  if (!written.ok()) return written;
  const LoraOptions& options = lora.options();
  const std::vector<std::string> layers = lora.AdaptedLayers();
  const std::string json =
      ToJson({.rank = options.rank,
              .alpha = options.alpha,
              .rank_stabilized = options.rank_stabilized,
              .dropout = options.dropout,
              .target_modules = layers,
              .target_pattern = IsAmbiguous(lora) ? ExactPattern(layers) : "",
              .modules_to_save = lora.OtherTrainedLayers()});
  return WriteFileAtomically(ConfigPath(folder), json);
}

absl::StatusOr<LoraOptions> AdapterOptions(const std::string& folder) {
  const absl::StatusOr<AdapterConfig> config = ReadConfig(folder);
  if (!config.ok()) return config.status();
  const auto read = ReadSafetensors(TensorsPath(folder));
  if (!read.ok()) return read.status();
  LoraOptions options = {.targets = {},
                         .rank = config->rank,
                         .alpha = config->alpha,
                         .rank_stabilized = config->rank_stabilized,
                         .dropout = config->dropout};
  std::set<std::string> adapted, trained;
  for (const NamedTensor& item : read->tensors) {
    if (!item.name.starts_with(kPrefix)) {
      return absl::InvalidArgumentError(
          absl::StrCat(TensorsPath(folder), ": \"", item.name,
                       "\" does not begin with \"", kPrefix, "\""));
    }
    const std::string name = item.name.substr(sizeof(kPrefix) - 1);
    const size_t lora = name.find(".lora_");
    if (lora != std::string::npos) {
      adapted.insert(name.substr(0, lora));
    } else {
      trained.insert(name.substr(0, name.rfind('.')));
    }
  }
  options.targets.assign(adapted.begin(), adapted.end());
  options.also_train.assign(trained.begin(), trained.end());
  return options;
}

absl::Status LoadAdapters(const std::string& folder, Lora& lora) {
  TORCH_CHECK_VALUE(!lora.merged(),
                    "LoadAdapters: the adapters are merged; unmerge them "
                    "first");
  const absl::StatusOr<AdapterConfig> config = ReadConfig(folder);
  if (!config.ok()) return config.status();
  const LoraOptions& options = lora.options();
  if (config->rank != options.rank || config->alpha != options.alpha ||
      config->rank_stabilized != options.rank_stabilized) {
    return absl::InvalidArgumentError(absl::StrCat(
        "LoadAdapters: ", folder, " has ",
        DescribeScale(config->rank, config->alpha, config->rank_stabilized),
        "; this Lora has ",
        DescribeScale(options.rank, options.alpha, options.rank_stabilized),
        ". Construct the Lora from AdapterOptions"));
  }
  const auto read = ReadSafetensors(TensorsPath(folder));
  if (!read.ok()) return read.status();
  const std::vector<NamedTensor> own = PeftTensors(lora);
  const absl::Status loaded =
      LoadTensors(read->tensors, own, TensorTypes::kConvert);
  if (!loaded.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("LoadAdapters: ", folder, ": ", loaded.message()));
  }
  return absl::OkStatus();
}

}  // namespace trainyard
