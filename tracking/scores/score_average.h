// ScoreAverage says how the scores of several classes become the values of one
// metric.
//
//   const ClassScores scores = {{"cat", 1, 2}, {"dog", 0.5, 6}};
//   AverageScores(scores, ScoreAverage::kMacro);  // {{"", 0.75}}
//
// Thread-safe: free functions.
#ifndef TRAINYARD_TRACKING_SCORES_SCORE_AVERAGE_H_
#define TRAINYARD_TRACKING_SCORES_SCORE_AVERAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tracking/metric_reducer.h"

namespace trainyard {

enum class ScoreAverage {
  // The score of class 1, of two classes.
  kPositive,
  // One score of all decisions together; every record counts the same.
  kMicro,
  // The mean over the classes; every class counts the same.
  kMacro,
  // The mean over the classes, weighted by how many records are of each.
  kWeighted,
  // No average: one value per class, "<metric>_<class>".
  kPerClass,
};

// "positive", "micro", "macro", "weighted", "per class".
std::string ToString(ScoreAverage average);

// What `average` means where the user set none: kPositive for two classes,
// kMacro for more. Throws c10::ValueError for kPositive with more than two
// classes; `metric` is for the message.
ScoreAverage AverageOf(const std::optional<ScoreAverage>& average,
                       int64_t classes, const char* metric);

struct ClassScore {
  // Names the value of kPerClass.
  std::string key;
  double score = 0;
  // Records whose target is the class, for kWeighted.
  int64_t support = 0;
};
using ClassScores = std::vector<ClassScore>;

// The values of a metric. A score that is NaN is left out of the averages; if
// all are NaN, so is the average. kWeighted without any records weighs the
// classes equally. REQUIRES: not kMicro, which is no average of scores.
ReducedValues AverageScores(const ClassScores& scores, ScoreAverage average);

// The keys of the classes: their names or, if `names` is empty, their numbers.
// Throws c10::ValueError if there are names, but not one per class.
std::vector<std::string> ClassKeys(const std::vector<std::string>& names,
                                   int64_t classes, const char* metric);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SCORES_SCORE_AVERAGE_H_
