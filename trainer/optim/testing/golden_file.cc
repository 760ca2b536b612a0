#include "trainer/optim/testing/golden_file.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace trainyard {
namespace {

// By strtod, which also reads "nan" and "inf".
std::vector<double> Numbers(std::istringstream& line) {
  std::vector<double> numbers;
  for (std::string word; line >> word;) {
    numbers.push_back(std::strtod(word.c_str(), nullptr));
  }
  return numbers;
}

void Add(const std::string& text, std::vector<OptimizerGoldenCase>& cases) {
  std::istringstream line(text);
  std::string key, name;
  line >> key;
  if (key == "case") {
    OptimizerGoldenCase& added = cases.emplace_back();
    line >> added.name >> added.dtype;
    return;
  }
  if (cases.empty()) return;  // the comment on top
  OptimizerGoldenCase& last = cases.back();
  if (key == "skips") {
    line >> last.skips;
  } else if (key == "param") {
    OptimizerGoldenCase::Param& param = last.params.emplace_back();
    line >> param.name >> param.group;
    for (int64_t size; line >> size;) param.sizes.push_back(size);
  } else if (key == "override") {
    line >> name;
    last.overrides[name] = Numbers(line).at(0);
  } else if (key == "at") {
    int update = 0;
    line >> update >> name;
    last.checkpoints[update][name] = Numbers(line);
  } else if (key == "state") {
    line >> name;
    last.state[name] = Numbers(line);
  } else {
    throw std::runtime_error("unknown line: " + text);
  }
}

}  // namespace

std::vector<OptimizerGoldenCase> ReadGoldenFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<OptimizerGoldenCase> cases;
  for (std::string line; std::getline(file, line);) Add(line, cases);
  return cases;
}

}  // namespace trainyard
