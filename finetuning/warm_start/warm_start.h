// WarmStart puts weights from a safetensors file, or from several with Hugging
// Face's index, into a model: by name, through rename rules, and with a list of
// what did not match. Nothing is changed unless all of it is as asked for.
//
//   const absl::StatusOr<WarmStartReport> report = WarmStart(
//       "resnet18", *model,
//       {.rename = {{.pattern = R"(^backbone\.)", .replacement = ""}},
//        .leave = {"head"}});
//   std::cout << Describe(*report);
//
// Tensors that the model holds under two names (tied weights) may be in the
// file under one of them. A model is a torch::nn module or, as
// trainer/model/model.h has it, a TorchScript one; its parameters and buffers
// are filled where they are, on any device.
//
// Thread-compatible.
#ifndef TRAINYARD_FINETUNING_WARM_START_WARM_START_H_
#define TRAINYARD_FINETUNING_WARM_START_WARM_START_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "finetuning/warm_start/rename_rules.h"
#include "trainer/model/model.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

struct WarmStartOptions {
  // Applied to the file's names, in order. One that matches nothing is an
  // error.
  std::vector<RenameRule> rename = {};
  // Globs of tensors or modules, e.g. "head": the model keeps its own values,
  // and what the file has under these names is not looked at. One that names
  // nothing, in neither, is an error.
  std::vector<std::string> leave = {};
  // Whether tensors that only the model or only the file has are an error.
  // Otherwise they are listed; but no tensor at all is always an error.
  bool strict = true;
  // Tensors of another shape: an error, left as they are in the model, or, if
  // sizes differ in one dimension only (classes of a head, words of a
  // vocabulary), filled as far as both go.
  enum class Shapes { kError, kSkip, kSlice };
  Shapes shapes = Shapes::kError;
  // Whether one floating-point type becomes another. Other types never do.
  bool convert_types = true;
};

// Names are the model's.
struct WarmStartReport {
  // Filled, also those that are named below as sliced or converted.
  std::vector<std::string> loaded = {};
  // "head.weight: Float [10, 64] from Float [5, 64]".
  std::vector<std::string> sliced = {};
  std::vector<std::string> converted = {};
  // Of another shape, and so not filled.
  std::vector<std::string> skipped = {};
  // Only the model has them.
  std::vector<std::string> missing = {};
  // Only the file has them, after renaming.
  std::vector<std::string> unexpected = {};
};

// What to show: how many were loaded, and the rest by name, at most twenty of
// each kind.
std::string Describe(const WarmStartReport& report);

// `path` is a safetensors file, an index of several, or a folder with
// model.safetensors or its index in it. NotFound or DataLoss, with the path,
// if that cannot be read; InvalidArgument, with all that does not match,
// otherwise.
absl::StatusOr<WarmStartReport> WarmStart(const std::string& path,
                                          torch::nn::Module& model,
                                          const WarmStartOptions& options = {});
absl::StatusOr<WarmStartReport> WarmStart(const std::string& path,
                                          const Model& model,
                                          const WarmStartOptions& options = {});

// From tensors that were read already, into any.
absl::StatusOr<WarmStartReport> WarmStart(
    const std::vector<NamedTensor>& saved,
    const std::vector<NamedTensor>& wanted,
    const WarmStartOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_WARM_START_WARM_START_H_
