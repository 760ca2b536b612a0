// An optimizer's state in a safetensors file, by the parameters' names: kept
// between runs, or exchanged with Python by tools/convert/optimizer_state.py.
//
//   const auto groups = ReadPythonParamGroups(
//       "optimizer.json", NamedParameters(*model), {"lr", "weight_decay"});
//   AdamW optimizer(*groups);
//   absl::Status status =
//       LoadOptimizerState("optimizer.safetensors", optimizer);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_OPTIMIZER_STATE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_OPTIMIZER_STATE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"
#include "trainer/optim/optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

absl::Status SaveOptimizerState(const std::string& path,
                                const Optimizer& optimizer);

// InvalidArgument if names or shapes differ: lists them, and changes nothing.
absl::Status LoadOptimizerState(const std::string& path, Optimizer& optimizer);

// The groups of a Python optimizer over these parameters, with its values of
// these fields; a field that a group's settings lack is left to the optimizer's
// options. InvalidArgument if a parameter is in no group, in two, or unknown.
absl::StatusOr<std::vector<ParamGroup>> ReadPythonParamGroups(
    const std::string& path, const std::vector<NamedTensor>& params,
    const std::vector<std::string>& fields);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_OPTIMIZER_STATE_H_
