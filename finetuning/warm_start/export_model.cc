#include "finetuning/warm_start/export_model.h"

#include <absl/strings/str_cat.h>

#include "finetuning/warm_start/all_tensors.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/checkpoint/safetensors/sharded_safetensors.h"

namespace trainyard {
namespace {

absl::Status Refused(const std::string& path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
}

}  // namespace

absl::Status ExportSafetensors(const std::vector<NamedTensor>& tensors,
                               const std::string& path,
                               const ExportOptions& options) {
  if (options.float_type && !at::isFloatingType(*options.float_type)) {
    return Refused(
        path, absl::StrCat("float_type is ", c10::toString(*options.float_type),
                           "; it must be a floating-point type"));
  }
  if (options.max_shard_bytes == uint64_t{0}) {
    return Refused(path, "max_shard_bytes is 0; it must be at least 1");
  }
  std::vector<std::string> names;
  for (const NamedTensor& item : tensors) names.push_back(item.name);
  const auto renamed = Renamed(names, options.rename);
  if (!renamed.ok()) return Refused(path, renamed.status().message());
  std::vector<NamedTensor> written;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor tensor = tensors[i].tensor.detach();
    written.push_back(
        {(*renamed)[i], options.float_type && tensor.is_floating_point()
                            ? tensor.to(*options.float_type)
                            : tensor});
  }
  if (!options.max_shard_bytes) {
    return WriteSafetensors(path, written, {{"format", "pt"}});
  }
  return WriteShardedSafetensors(path, written,
                                 {.max_shard_bytes = *options.max_shard_bytes});
}

absl::Status ExportSafetensors(const Model& model, const std::string& path,
                               const ExportOptions& options) {
  return ExportSafetensors(AllTensors(model), path, options);
}

absl::Status ExportSafetensors(torch::nn::Module& model,
                               const std::string& path,
                               const ExportOptions& options) {
  return ExportSafetensors(*Borrowed(model), path, options);
}

}  // namespace trainyard
