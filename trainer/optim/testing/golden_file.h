// Reads the golden files that tools/golden/optimizers.py writes.
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
  // Parameter "d" has no gradient in some updates.
  bool skips = false;
  std::vector<Param> params;
  // The second group's.
  std::map<std::string, double> overrides;
  // After so many updates, by parameter.
  std::map<int, Values> checkpoints;
  // In the end, by "<parameter>/<what>".
  Values state;
};

// All cases of a file. Throws std::runtime_error if it cannot be read.
std::vector<OptimizerGoldenCase> ReadGoldenFile(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_TESTING_GOLDEN_FILE_H_
