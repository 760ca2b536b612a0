// WarmStart loads weights from a safetensors file, from several files with
// Hugging Face's index, or from a .pt file of PyTorch into a model. It matches
// tensors by name, after rename rules, and reports what did not match. On an
// error the model is unchanged.
//
//   const absl::StatusOr<WarmStartReport> report = WarmStart(
//       path, *model,
//       {.rename = {{.pattern = R"(^backbone\.)", .replacement = ""}},
//        .leave = {"head"}});
//   std::cout << Describe(*report);
//
// The model is a torch::nn module or a Model (trainer/model/model.h), on any
// device. Of tensors that the model holds under two names (tied weights), the
// file needs only one.
//
// Thread-compatible.
#ifndef TRAINYARD_FINETUNING_WARM_START_WARM_START_H_
#define TRAINYARD_FINETUNING_WARM_START_WARM_START_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "finetuning/warm_start/rename_rules.h"
#include "trainer/model/model.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

struct WarmStartOptions {
  // Applied to the file's names, in order. A rule that matches no name is an
  // error.
  std::vector<RenameRule> rename = {};
  // Globs of tensors or modules that are not loaded, e.g. "head": the model
  // keeps its own values, and tensors of the file with such names are ignored.
  // A glob that matches neither the model nor the file is an error.
  std::vector<std::string> leave = {};
  // Whether tensors that only the model or only the file has are an error. If
  // not, the report lists them. If no tensor matches, it is always an error.
  bool strict = true;
  // What to do with tensors of another shape: fail; keep the model's values;
  // or, if sizes differ in one dimension only (classes of a head, words of a
  // vocabulary), load the part that both have and fail otherwise.
  enum class Shapes { kError, kSkip, kSlice };
  Shapes shapes = Shapes::kError;
  // Whether floating-point types are converted. Other types never are.
  bool convert_types = true;
  // The key of the weights in a .pt file, e.g. "state_dict"; see PtOptions in
  // trainer/checkpoint/pt/pt_layout.h. An error with other files.
  std::optional<std::string> key = std::nullopt;
};

// All names are those of the model.
struct WarmStartReport {
  // Loaded tensors, including sliced and converted ones.
  std::vector<std::string> loaded = {};
  // Lines such as "head.weight: Float [10, 64] from Float [5, 64]".
  std::vector<std::string> sliced = {};
  std::vector<std::string> converted = {};
  // Not loaded, because the shape differs (Shapes::kSkip).
  std::vector<std::string> skipped = {};
  // In the model, but not in the file.
  std::vector<std::string> missing = {};
  // In the file (after renaming), but not in the model.
  std::vector<std::string> unexpected = {};
};

// The report as text: the number of loaded tensors, and at most twenty names of
// every other kind.
std::string Describe(const WarmStartReport& report);

// `path` is a safetensors file, an index of several, a folder that contains
// model.safetensors or its index, or a .pt file. Returns NotFound or DataLoss,
// with the path, if the files cannot be read, and InvalidArgument, with
// everything that does not match, if the weights do not fit.
absl::StatusOr<WarmStartReport> WarmStart(const std::string& path,
                                          torch::nn::Module& model,
                                          const WarmStartOptions& options = {});
absl::StatusOr<WarmStartReport> WarmStart(const std::string& path,
                                          const Model& model,
                                          const WarmStartOptions& options = {});

// Loads tensors that are in memory already into other tensors.
absl::StatusOr<WarmStartReport> WarmStart(
    const std::vector<NamedTensor>& saved,
    const std::vector<NamedTensor>& wanted,
    const WarmStartOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_WARM_START_WARM_START_H_
