#include "trainer/exported/step_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "trainer/io/json_reader.h"

namespace trainyard {
namespace {

constexpr char kVersion[] = "1";

std::set<std::string> Words(std::string_view text) {
  const std::vector<std::string> words = absl::StrSplit(
      absl::string_view(text.data(), text.size()), ' ', absl::SkipEmpty());
  return {words.begin(), words.end()};
}

absl::StatusOr<std::vector<std::string>> ParseNames(std::string_view text) {
  JsonReader json(text);
  std::vector<std::string> names;
  json.BeginArray();
  while (json.NextItem()) json.ReadString(names.emplace_back());
  json.End();
  if (!json.ok()) return json.status();
  return names;
}

}  // namespace

absl::StatusOr<StepText> ParseStepText(
    const std::map<std::string, std::string>& metadata) {
  const auto version = metadata.find("trainyard.step");
  if (version == metadata.end()) {
    return absl::DataLossError(
        "is not a compiled step of tools/convert/export_model.py --compile");
  }
  if (version->second != kVersion) {
    return absl::UnimplementedError(
        absl::StrCat("is a compiled step of version \"", version->second,
                     "\"; this program reads version ", kVersion));
  }
  StepText text;
  const auto find = [&](const std::string& key) -> std::string_view {
    const auto found = metadata.find("trainyard." + key);
    return found == metadata.end() ? std::string_view() : found->second;
  };
  text.torch = find("torch");
  text.cpu = Words(find("cpu"));
  text.command = find("command");
  absl::StatusOr<std::vector<GraphInput>> inputs =
      ParseGraphInputs(find("inputs"));
  if (!inputs.ok()) {
    return absl::DataLossError(
        absl::StrCat("inputs: ", inputs.status().message()));
  }
  text.inputs = *std::move(inputs);
  const std::pair<const char*, std::vector<std::string>*> lists[] = {
      {"outputs", &text.outputs},
      {"gradients", &text.gradients},
      {"buffers", &text.buffers}};
  for (const auto& [key, list] : lists) {
    absl::StatusOr<std::vector<std::string>> names = ParseNames(find(key));
    if (!names.ok()) {
      return absl::DataLossError(
          absl::StrCat(key, ": ", names.status().message()));
    }
    *list = *std::move(names);
  }
  return text;
}

absl::Status CheckRunsHere(const StepText& text, const std::string& torch,
                           const std::set<std::string>& cpu) {
  const std::string again =
      absl::StrCat("; compile it again on this machine: ", text.command);
  if (text.torch != torch) {
    return absl::FailedPreconditionError(
        absl::StrCat("was compiled by PyTorch ", text.torch,
                     "; this program has libtorch ", torch, again));
  }
  std::vector<std::string> missing;
  std::set_difference(text.cpu.begin(), text.cpu.end(), cpu.begin(), cpu.end(),
                      std::back_inserter(missing));
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("was compiled for a processor with ",
                   absl::StrJoin(missing, ", "), "; this one has none", again));
}

std::set<std::string> CpuFeatures() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(':');
    // "flags" on x86, "Features" on ARM.
    const bool is_list =
        line.starts_with("flags") || line.starts_with("Features");
    if (is_list && colon != std::string::npos) {
      return Words(std::string_view(line).substr(colon + 1));
    }
  }
  return {};
}

}  // namespace trainyard
