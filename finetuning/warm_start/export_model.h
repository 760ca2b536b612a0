// ExportSafetensors writes a model's parameters and buffers to safetensors
// files, bit-exactly, for Python and other readers.
//
//   const absl::Status written = ExportSafetensors(
//       *model, path,
//       {.rename = {{.pattern = "^", .replacement = "backbone."}}});
//   // In Python: net.load_state_dict(load_file(path))
//
// Thread-compatible.
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
  // Applied to the model's names, in order. A rule that matches no name is an
  // error.
  std::vector<RenameRule> rename = {};
  // Type of floating-point tensors in the file, e.g. at::kHalf. Unset: that of
  // the model.
  std::optional<c10::ScalarType> float_type = std::nullopt;
  // Unset: `path` is the file to write. Otherwise `path` is an existing folder;
  // it gets files of at most this many bytes, and Hugging Face's index if there
  // are several. REQUIRES: > 0.
  std::optional<uint64_t> max_shard_bytes = std::nullopt;
};

// Replaces existing files atomically. Returns InvalidArgument, before anything
// is written, if a rule or an option is invalid.
absl::Status ExportSafetensors(torch::nn::Module& model,
                               const std::string& path,
                               const ExportOptions& options = {});
absl::Status ExportSafetensors(const Model& model, const std::string& path,
                               const ExportOptions& options = {});

// Writes any named tensors, e.g. averages.
absl::Status ExportSafetensors(const std::vector<NamedTensor>& tensors,
                               const std::string& path,
                               const ExportOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_WARM_START_EXPORT_MODEL_H_
