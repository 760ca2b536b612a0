#include "trainer/checkpoint/optimizer_state.h"

#include <absl/strings/str_cat.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <map>

#include "trainer/checkpoint/python_param_groups.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/io/input_file.h"
#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

// Far more than any model needs.
constexpr uint64_t kMaxSettings = uint64_t{64} << 20;

absl::StatusOr<std::string> ReadText(const std::string& path) {
  const absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  if (file->size() > kMaxSettings) {
    return absl::DataLossError(absl::StrCat(path, ": has ", file->size(),
                                            " bytes; it must have at most ",
                                            kMaxSettings));
  }
  std::string text(file->size(), '\0');
  const absl::Status read = file->ReadAt(0, text.data(), text.size());
  if (!read.ok()) return read;
  return text;
}

}  // namespace

absl::Status SaveOptimizerState(const std::string& path,
                                const Optimizer& optimizer) {
  return WriteSafetensors(path, optimizer.NamedTensors());
}

absl::Status LoadOptimizerState(const std::string& path, Optimizer& optimizer) {
  const absl::StatusOr<Safetensors> file = ReadSafetensors(path);
  if (!file.ok()) return file.status();
  try {
    optimizer.LoadTensors(file->tensors);
  } catch (const c10::Error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", error.what_without_backtrace()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ParamGroup>> ReadPythonParamGroups(
    const std::string& path, const std::vector<NamedTensor>& params,
    const std::vector<std::string>& fields) {
  const absl::StatusOr<std::string> text = ReadText(path);
  if (!text.ok()) return text.status();
  const auto settings = ParsePythonParamGroups(*text);
  if (!settings.ok()) {
    return absl::DataLossError(
        absl::StrCat(path, ": ", settings.status().message()));
  }
  std::map<std::string, at::Tensor> unused;
  for (const NamedTensor& param : params) unused[param.name] = param.tensor;
  std::vector<ParamGroup> groups;
  for (const PythonParamGroup& given : *settings) {
    ParamGroup& group = groups.emplace_back();
    for (const std::string& name : given.params) {
      const auto param = unused.find(name);
      if (param == unused.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, ": parameter ", QuotedName(name),
                         " is in two groups or not in the model"));
      }
      group.params.push_back({name, param->second});
      unused.erase(param);
    }
    for (const std::string& field : fields) {
      const auto value = given.fields.find(field);
      if (value != given.fields.end()) group.overrides.insert(*value);
    }
  }
  if (!unused.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": parameter ", QuotedName(unused.begin()->first),
                     " of the model is in no group"));
  }
  return groups;
}

}  // namespace trainyard
