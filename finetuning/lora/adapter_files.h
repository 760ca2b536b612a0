// SaveAdapters and LoadAdapters store adapters in the two files that Python's
// peft reads and writes: adapter_model.safetensors and adapter_config.json.
//
//   OrThrow(SaveAdapters(lora, folder));
//   …
//   Lora lora(*model, OrThrow(AdapterOptions(folder)));
//   OrThrow(LoadAdapters(folder, lora));
//
// The files contain the adapters and the layers in `also_train`, nothing else.
// In Python: PeftModel.from_pretrained(model, folder), for a model whose layers
// have the same names.
//
// Errors name the file. Thread-compatible.
#ifndef TRAINYARD_FINETUNING_LORA_ADAPTER_FILES_H_
#define TRAINYARD_FINETUNING_LORA_ADAPTER_FILES_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>

#include "finetuning/lora/lora.h"

namespace trainyard {

// Creates the folder if needed and replaces adapters that were saved there.
absl::Status SaveAdapters(const Lora& lora, const std::string& folder);

// Returns the options of a Lora that the folder's adapters fit. Returns
// InvalidArgument if the adapters need something that Lora does not support:
// DoRA, biases, several ranks.
absl::StatusOr<LoraOptions> AdapterOptions(const std::string& folder);

// Copies the folder's adapters to those of `lora`. Returns InvalidArgument, and
// changes nothing, if tensors are missing, unexpected or of another shape, or
// if rank or scale differ. REQUIRES: !lora.merged(); throws c10::ValueError
// otherwise.
absl::Status LoadAdapters(const std::string& folder, Lora& lora);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LORA_ADAPTER_FILES_H_
