// A TorchScript model back into a file that Python's torch.jit.load reads, with
// the weights it has now.
//
//   const std::shared_ptr<ScriptModel> model = LoadScript("net.pt");
//   …
//   absl::Status written = ExportScript(*model, "tuned.pt");
//
// Thread-compatible.
#ifndef TRAINYARD_FINETUNING_WARM_START_EXPORT_SCRIPT_H_
#define TRAINYARD_FINETUNING_WARM_START_EXPORT_SCRIPT_H_

#include <absl/status/status.h>

#include <string>

#include "trainer/model/script_model.h"

namespace trainyard {

// In evaluation mode, whatever mode the model is in. Replaces a file of that
// name once the new one is complete. The error names the file.
absl::Status ExportScript(ScriptModel& model, const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_WARM_START_EXPORT_SCRIPT_H_
