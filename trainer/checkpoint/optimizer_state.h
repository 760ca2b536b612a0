// Keeps the state of an optimizer in a safetensors file, by parameter names.
// The file can be exchanged with Python: see tools/convert/optimizer_state.py.
//
//   const auto groups = ReadPythonParamGroups(
//       "optimizer.json", NamedParameters(*model), {"lr", "weight_decay"});
//   AdamW optimizer(*groups);
//   absl::Status loaded =
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

// Returns InvalidArgument, listing all differences, if names or shapes differ;
// then nothing has changed.
absl::Status LoadOptimizerState(const std::string& path, Optimizer& optimizer);

// Returns the groups of a Python optimizer over these parameters, with the
// values of these fields as overrides. A field that the file lacks is not
// overridden. Returns InvalidArgument if a parameter is unknown, in no group,
// or in two.
absl::StatusOr<std::vector<ParamGroup>> ReadPythonParamGroups(
    const std::string& path, const std::vector<NamedTensor>& params,
    const std::vector<std::string>& fields);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_OPTIMIZER_STATE_H_
