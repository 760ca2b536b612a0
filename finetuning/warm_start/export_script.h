// ExportScript writes a TorchScript model with its current weights to a file
// that Python's torch.jit.load reads.
//
//   const std::shared_ptr<ScriptModel> model = LoadScript(path);
//   …
//   const absl::Status written = ExportScript(*model, tuned_path);
//
// Thread-compatible.
#ifndef TRAINYARD_FINETUNING_WARM_START_EXPORT_SCRIPT_H_
#define TRAINYARD_FINETUNING_WARM_START_EXPORT_SCRIPT_H_

#include <absl/status/status.h>

#include <string>

#include "trainer/model/script_model.h"

namespace trainyard {

// The file has the model in evaluation mode; `model` keeps its own mode.
// Replaces an existing file atomically. The error names the file.
absl::Status ExportScript(ScriptModel& model, const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_WARM_START_EXPORT_SCRIPT_H_
