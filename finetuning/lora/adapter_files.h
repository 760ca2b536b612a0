// Adapters on the disk, in the two files that Python's peft reads and writes:
// adapter_model.safetensors and adapter_config.json.
//
//   SaveAdapters(lora, "adapters");            // peft reads it …
//
//   Lora lora(*model, AdapterOptions("from_python"));
//   LoadAdapters("from_python", lora);         // … and the other way
//
// Only adapters, and layers that are trained beside them, are in the files. In
// Python: PeftModel.from_pretrained(model, "adapters"), where the model's
// layers have the names they have here.
//
// Errors are exceptions: std::runtime_error for files that cannot be read or
// written, c10::ValueError for what does not fit. Thread-compatible.
#ifndef TRAINYARD_FINETUNING_LORA_ADAPTER_FILES_H_
#define TRAINYARD_FINETUNING_LORA_ADAPTER_FILES_H_

#include <string>

#include "finetuning/lora/lora.h"

namespace trainyard {

// Makes the folder if there is none, and replaces what was saved in it.
void SaveAdapters(const Lora& lora, const std::string& folder);

// The options of a Lora that the folder's adapters fit. Throws if they need
// what Lora has not: DoRA, biases, several ranks.
LoraOptions AdapterOptions(const std::string& folder);

// Copies the folder's adapters to those of `lora`, and does nothing if tensors
// are missing, unexpected or of another shape, or if the adapters would be
// scaled in another way. REQUIRES: not merged.
void LoadAdapters(const std::string& folder, Lora& lora);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LORA_ADAPTER_FILES_H_
