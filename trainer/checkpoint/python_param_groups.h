// The settings of a Python optimizer, as tools/convert/optimizer_state.py
// writes them to JSON: which parameters are in which group, and each group's
// numbers. Free of libtorch.
//
//   {"format": "trainyard-optimizer-1",
//    "param_groups": [{"params": ["w"], "lr": 0.1, "betas": [0.9, 0.999]}]}
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PYTHON_PARAM_GROUPS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PYTHON_PARAM_GROUPS_H_

#include <absl/status/statusor.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct PythonParamGroup {
  std::vector<std::string> params;
  // By Python's names, but "betas" is "beta1" and "beta2". True is 1, false 0.
  // What is null or text is left out.
  std::map<std::string, double> fields;
};

// DataLoss, saying at which byte, if it is anything else.
absl::StatusOr<std::vector<PythonParamGroup>> ParsePythonParamGroups(
    std::string_view json);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PYTHON_PARAM_GROUPS_H_
