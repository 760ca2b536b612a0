#include "finetuning/lora/adapter_files.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "finetuning/lora/adapter_config.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/io/atomic_file.h"
#include "trainer/optim/named_state.h"
#include "trainer/or_throw.h"

namespace trainyard {
namespace {

constexpr std::string_view kPrefix = "base_model.model.";
constexpr std::string_view kWeight = ".weight";

std::string TensorsPath(const std::string& folder) {
  return folder + "/adapter_model.safetensors";
}
std::string ConfigPath(const std::string& folder) {
  return folder + "/adapter_config.json";
}

// As peft calls it: "fc.lora_A.weight" is "base_model.model.fc.lora_A.weight";
// those of embeddings are no modules there and have no ".weight".
std::string PeftName(std::string name) {
  if (name.find(".lora_embedding_") != std::string::npos) {
    name.resize(name.size() - kWeight.size());
  }
  return std::string(kPrefix) + name;
}

std::vector<NamedTensor> PeftTensors(const Lora& lora) {
  std::vector<NamedTensor> tensors;
  for (const NamedTensor& item : lora.Parameters()) {
    tensors.push_back({PeftName(item.name), item.tensor.detach()});
  }
  return tensors;
}

// A name that is also the end of another module's would adapt that, too.
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

// Exactly these names, as a regular expression.
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

AdapterConfig ReadConfig(const std::string& folder) {
  const std::string path = ConfigPath(folder);
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error(path + ": cannot be read");
  absl::StatusOr<AdapterConfig> config = ParseAdapterConfig(text.str());
  TORCH_CHECK_VALUE(config.ok(), path, ": ",
                    std::string(config.status().message()));
  return *std::move(config);
}

}  // namespace

void SaveAdapters(const Lora& lora, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw std::runtime_error(folder + ": cannot be made: " + error.message());
  }
  OrThrow(WriteSafetensors(TensorsPath(folder), PeftTensors(lora),
                           {{"format", "pt"}}));
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
  AtomicFile file = OrThrow(AtomicFile::Create(ConfigPath(folder)));
  OrThrow(file.Append(json.data(), json.size()));
  OrThrow(file.Commit());
}

LoraOptions AdapterOptions(const std::string& folder) {
  const AdapterConfig config = ReadConfig(folder);
  LoraOptions options = {.targets = {},
                         .rank = config.rank,
                         .alpha = config.alpha,
                         .rank_stabilized = config.rank_stabilized,
                         .dropout = config.dropout};
  std::set<std::string> adapted, trained;
  for (const NamedTensor& item :
       OrThrow(ReadSafetensors(TensorsPath(folder))).tensors) {
    TORCH_CHECK_VALUE(item.name.starts_with(kPrefix), TensorsPath(folder),
                      ": \"", item.name, "\" does not begin with \"", kPrefix,
                      "\"");
    const std::string name = item.name.substr(kPrefix.size());
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

void LoadAdapters(const std::string& folder, Lora& lora) {
  TORCH_CHECK_VALUE(!lora.merged(),
                    "LoadAdapters: the adapters are merged; unmerge them "
                    "first");
  const AdapterConfig config = ReadConfig(folder);
  const LoraOptions& options = lora.options();
  TORCH_CHECK_VALUE(
      config.rank == options.rank && config.alpha == options.alpha &&
          config.rank_stabilized == options.rank_stabilized,
      "LoadAdapters: ", folder, " has rank ", config.rank, " and alpha ",
      config.alpha, config.rank_stabilized ? ", rank-stabilized" : "",
      "; this Lora has rank ", options.rank, " and alpha ", options.alpha,
      options.rank_stabilized ? ", rank-stabilized" : "",
      ". Make it with AdapterOptions");
  const std::vector<NamedTensor> own = PeftTensors(lora);
  const std::vector<NamedTensor> read =
      OrThrow(ReadSafetensors(TensorsPath(folder))).tensors;
  const StateMismatch mismatch = CompareState(own, read);
  TORCH_CHECK_VALUE(mismatch.empty(), "LoadAdapters: ", folder,
                    " does not fit: ", mismatch.ToString());
  const at::NoGradGuard no_gradients;
  CopyState(own, read);
}

}  // namespace trainyard
