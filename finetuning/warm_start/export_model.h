// A model's weights into safetensors files, for Python or anybody else.
//
//   absl::Status written = ExportSafetensors(
//       *model, "tuned.safetensors",
//       {.rename = {{.pattern = "^", .replacement = "backbone."}}});
//   // in Python: net.load_state_dict(load_file("tuned.safetensors"))
//
// Parameters and buffers, bit for bit. Thread-compatible.
#ifndef TRAINYARD_FINETUNING_WARM_START_EXPORT_MODEL_H_
#define TRAINYARD_FINETUNING_WARM_START_EXPORT_MODEL_H_

#include <absl/status/status.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "finetuning/warm_start/rename_rules.h"
#include "trainer/model/model.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

struct ExportOptions {
  // Applied to the model's names, in order. One that matches nothing is an
  // error.
  std::vector<RenameRule> rename = {};
  // What floating-point tensors become, e.g. at::kHalf. Empty: they stay.
  std::optional<c10::ScalarType> float_type = std::nullopt;
  // Empty: `path` is the file. Otherwise `path` is a folder that is there, and
  // gets files of at most so many bytes, and Hugging Face's index if there are
  // several. REQUIRES: > 0.
  std::optional<uint64_t> max_shard_bytes = std::nullopt;
};

// Replaces files of the same name, each once it is complete. InvalidArgument,
// before anything is written, for rules and options that cannot be followed.
absl::Status ExportSafetensors(torch::nn::Module& model,
                               const std::string& path,
                               const ExportOptions& options = {});
absl::Status ExportSafetensors(const Model& model, const std::string& path,
                               const ExportOptions& options = {});

// Of any tensors, e.g. averaged ones.
absl::Status ExportSafetensors(const std::vector<NamedTensor>& tensors,
                               const std::string& path,
                               const ExportOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_WARM_START_EXPORT_MODEL_H_
