#include "finetuning/warm_start/export_script.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <torch/csrc/jit/api/module.h>

#include <exception>
#include <sstream>

#include "trainer/error_message.h"
#include "trainer/io/atomic_file.h"

namespace trainyard {
namespace {

// The file's bytes.
absl::StatusOr<std::string> Serialized(ScriptModel& model) {
  const bool training = model.module().is_training();
  std::string error;
  std::ostringstream bytes;
  model.SetTraining(false);
  try {
    model.module().save(bytes);
  } catch (const std::exception& e) {
    error = ErrorMessage(e);
  }
  model.SetTraining(training);
  if (!error.empty()) return absl::InvalidArgumentError(error);
  return bytes.str();
}

}  // namespace

absl::Status ExportScript(ScriptModel& model, const std::string& path) {
  const absl::StatusOr<std::string> bytes = Serialized(model);
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", bytes.status().message()));
  }
  return WriteFileAtomically(path, *bytes);
}

}  // namespace trainyard
