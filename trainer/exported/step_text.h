// StepText is what a compiled step of export_model.py says about itself: which
// tensors it takes, what it returns, and where it can run. It is in the
// package's metadata. Free of libtorch.
//
//   const absl::StatusOr<StepText> text = ParseStepText(metadata);
//   if (!text.ok()) return text.status();
//   return CheckRunsHere(*text, "2.13.0", CpuFeatures());
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_EXPORTED_STEP_TEXT_H_
#define TRAINYARD_TRAINER_EXPORTED_STEP_TEXT_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "trainer/exported/graph.h"

namespace trainyard {

struct StepText {
  // The version of PyTorch that compiled it, e.g. "2.13.0".
  std::string torch;
  // The features of the processor that it was compiled for, as the kernel names
  // them, e.g. "avx2".
  std::set<std::string> cpu;
  // The command that made it.
  std::string command;
  // What it takes: first tensors of the model, then what the caller passes.
  std::vector<GraphInput> inputs;
  // What it returns: the loss, then the outputs of the model, …
  std::vector<std::string> outputs;
  // … the gradients of these parameters, …
  std::vector<std::string> gradients;
  // … and the new values of these buffers.
  std::vector<std::string> buffers;
};

// DataLoss for metadata that is not of such a package, Unimplemented for a
// later version.
absl::StatusOr<StepText> ParseStepText(
    const std::map<std::string, std::string>& metadata);

// FailedPrecondition, with the command that compiles it again, for a step that
// was compiled by another version of PyTorch, or for a processor that has
// features which this one lacks.
absl::Status CheckRunsHere(const StepText& text, const std::string& torch,
                           const std::set<std::string>& cpu);

// Of this machine's processor. Empty if the kernel does not say.
std::set<std::string> CpuFeatures();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_STEP_TEXT_H_
