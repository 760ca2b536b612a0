#include "tracking/scores/score_average.h"

#include <c10/util/Exception.h>

#include <cmath>
#include <limits>

namespace trainyard {

std::string ToString(ScoreAverage average) {
  switch (average) {
    case ScoreAverage::kPositive:
      return "positive";
    case ScoreAverage::kMicro:
      return "micro";
    case ScoreAverage::kMacro:
      return "macro";
    case ScoreAverage::kWeighted:
      return "weighted";
    case ScoreAverage::kPerClass:
      return "per class";
  }
  return "unknown";
}

ScoreAverage AverageOf(const std::optional<ScoreAverage>& average,
                       int64_t classes, const char* metric) {
  TORCH_CHECK_VALUE(average != ScoreAverage::kPositive || classes == 2, metric,
                    ": average is \"positive\", which is for two classes, and "
                    "the outputs have ",
                    classes, "; set another average");
  return average.value_or(classes == 2 ? ScoreAverage::kPositive
                                       : ScoreAverage::kMacro);
}

ReducedValues AverageScores(const ClassScores& scores, ScoreAverage average) {
  TORCH_CHECK_VALUE(average != ScoreAverage::kMicro,
                    "AverageScores: micro is not an average of scores");
  if (average == ScoreAverage::kPositive) return {{"", scores.at(1).score}};
  ReducedValues values;
  bool weighted = false;
  double sum = 0, weights = 0;
  if (average == ScoreAverage::kWeighted) {
    for (const ClassScore& item : scores) {
      weighted |= item.support > 0 && !std::isnan(item.score);
    }
  }
  for (const ClassScore& item : scores) {
    if (average == ScoreAverage::kPerClass) values[item.key] = item.score;
    if (std::isnan(item.score)) continue;
    const double weight = weighted ? static_cast<double>(item.support) : 1;
    sum += weight * item.score;
    weights += weight;
  }
  if (average == ScoreAverage::kPerClass) return values;
  return {{"", weights > 0 ? sum / weights
                           : std::numeric_limits<double>::quiet_NaN()}};
}

std::vector<std::string> ClassKeys(const std::vector<std::string>& names,
                                   int64_t classes, const char* metric) {
  if (!names.empty()) {
    TORCH_CHECK_VALUE(static_cast<int64_t>(names.size()) == classes, metric,
                      ": class_names has ", names.size(),
                      " names, and the outputs have ", classes, " classes");
    return names;
  }
  std::vector<std::string> keys;
  for (int64_t i = 0; i < classes; ++i) keys.push_back(std::to_string(i));
  return keys;
}

}  // namespace trainyard
