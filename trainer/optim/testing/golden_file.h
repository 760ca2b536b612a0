// Reads the golden files that tools/golden/optimizers.py writes.
//
//   for (const OptimizerGoldenCase& golden :
//        ReadGoldenFile("trainer/optim/testdata/lbfgs.txt")) {
//     …
//   }
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_OPTIM_TESTING_GOLDEN_FILE_H_
#define TRAINYARD_TRAINER_OPTIM_TESTING_GOLDEN_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trainyard {

struct OptimizerGoldenCase {
  struct Param {
    std::string name;
    size_t group;
    std::vector<int64_t> sizes;
  };
  using Values = std::map<std::string, std::vector<double>>;

  std::string name;
  std::string dtype;
  // Whether parameter "d" lacks a gradient in some updates.
  bool skips = false;
  std::vector<Param> params;
  // The overrides of the second group.
  std::map<std::string, double> overrides;
  // Parameters after a number of updates.
  std::map<int, Values> checkpoints;
  // The final state, by "<parameter>/<what>".
  Values state;
};

// Returns all cases of a file. Throws std::runtime_error if it cannot be read.
std::vector<OptimizerGoldenCase> ReadGoldenFile(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_TESTING_GOLDEN_FILE_H_
