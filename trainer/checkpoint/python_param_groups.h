// Parses the settings of a Python optimizer, as written by
// tools/convert/optimizer_state.py: the parameters and the numbers of each
// group. Free of libtorch.
//
//   {"format": "trainyard-optimizer-1",
//    "param_groups": [{"params": ["w"], "lr": 0.1, "betas": [0.9, 0.999]}]}
//
//   auto groups = ParsePythonParamGroups(json);
//   const double lr = (*groups)[0].fields.at("lr");
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
  // By Python's names, except that "betas" is "beta1" and "beta2". True is 1,
  // false is 0. Settings that are null, text or lists are left out.
  std::map<std::string, double> fields;
};

// Returns DataLoss, with the position of the error, for any other text.
absl::StatusOr<std::vector<PythonParamGroup>> ParsePythonParamGroups(
    std::string_view json);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PYTHON_PARAM_GROUPS_H_
