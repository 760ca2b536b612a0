// Reads golden files (format: tools/golden/golden_text.py) and compares a
// schedule with them.
//
//   ExpectGolden("step", Within::kOfValue, [](const GoldenCase& golden) {
//     return Step({.every = Updates(golden.Number("every")),
//                  .gamma = golden.Number("gamma")});
//   });
//
// Thread-compatible.
#ifndef TRAINYARD_SCHEDULERS_TESTING_GOLDEN_FILE_H_
#define TRAINYARD_SCHEDULERS_TESTING_GOLDEN_FILE_H_

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "schedulers/schedule.h"

namespace trainyard {

// What 1e-12 is a ratio of. Most schedules are exact to so much of each value,
// however small. Whole cosines are exact to so much of where they start from:
// near the end 1 + cos(x) is what is left when its digits cancel, and the last
// digit of one cosine, which is the machine's, shows a hundred thousandfold.
enum class Within { kOfValue, kOfBase };

struct GoldenCase {
  std::string name;
  std::map<std::string, std::string> settings;
  std::map<std::string, std::vector<double>> sequences;

  bool Has(const std::string& key) const { return settings.count(key) > 0; }
  const std::string& Text(const std::string& key) const {
    return settings.at(key);
  }
  double Number(const std::string& key) const { return std::stod(Text(key)); }
  int Integer(const std::string& key) const { return std::stoi(Text(key)); }
  // Comma-separated.
  std::vector<std::string> List(const std::string& key) const {
    std::vector<std::string> items;
    std::istringstream text(Text(key));
    for (std::string item; std::getline(text, item, ',');) {
      items.push_back(item);
    }
    return items;
  }
  double base() const { return Number("base"); }
};

// The cases of schedulers/golden/<name>.txt.
inline std::vector<GoldenCase> ReadGolden(const std::string& name) {
  std::ifstream file("schedulers/golden/" + name + ".txt");
  if (!file) throw std::runtime_error("no golden file: " + name);
  std::vector<GoldenCase> cases;
  std::string sequence;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    if (line.rfind('#', 0) == 0) continue;
    if (line.rfind("case ", 0) == 0) {
      GoldenCase& made = cases.emplace_back();
      sequence = "values";
      words >> word >> made.name;
      while (words >> word) {
        const size_t equals = word.find('=');
        made.settings[word.substr(0, equals)] = word.substr(equals + 1);
      }
    } else if (std::isalpha(static_cast<unsigned char>(line[0]))) {
      sequence = line;
    } else {
      const double unit = sequence == "values" ? cases.back().base() : 1;
      std::vector<double>& numbers = cases.back().sequences[sequence];
      while (words >> word) {
        const size_t star = word.find('*');
        const size_t count =
            star == std::string::npos ? 1 : std::stoul(word.substr(star + 1));
        numbers.insert(numbers.end(), count, std::stod(word) * unit);
      }
    }
  }
  return cases;
}

// Expects `actual` where the golden file says `expected`.
inline void ExpectGoldenValue(const GoldenCase& golden, size_t update,
                              double actual, Within within) {
  const double expected = golden.sequences.at("values")[update];
  const double scale = within == Within::kOfValue ? expected : golden.base();
  ASSERT_NEAR(actual, expected, 1e-12 * std::abs(scale))
      << golden.name << ", update " << update;
}

// Compares all cases of a golden file, in runs of the setting `total` if there
// is one.
inline void ExpectGolden(
    const std::string& name, Within within,
    const std::function<ScheduleFactory(const GoldenCase&)>& make) {
  const std::vector<GoldenCase> cases = ReadGolden(name);
  ASSERT_GE(cases.size(), 5u);
  for (const GoldenCase& golden : cases) {
    RunLength run;
    if (golden.Has("total")) run.total_updates = golden.Integer("total");
    const std::unique_ptr<Schedule> schedule = make(golden)(run);
    const size_t count = golden.sequences.at("values").size();
    ASSERT_GE(count, 500u) << golden.name;
    for (size_t update = 0; update < count; ++update) {
      ASSERT_NO_FATAL_FAILURE(ExpectGoldenValue(
          golden, update,
          schedule->ValueAt(static_cast<int64_t>(update), golden.base()),
          within));
    }
  }
}

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_TESTING_GOLDEN_FILE_H_
