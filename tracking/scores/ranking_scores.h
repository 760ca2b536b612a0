// Metrics of how well scores rank the records: the area under the ROC curve and
// average precision.
//
//   auto task = Supervised(
//       model, CrossEntropy(),
//       {{"auc", AucRoc()},
//        {"ap", AveragePrecision({.average = ScoreAverage::kPerClass})}});
//
// Outputs have one column per class (N x classes), and the target has class
// numbers: each class is compared with all others (one versus rest). Outputs of
// shape N or N x 1 are scores of class 1, and the target is 0 or 1.
//
// All scores of an evaluation are kept, on their device, and gathered from all
// ranks at its end: 8 bytes per record and column on each rank. The values are
// exact: they do not depend on how the records are divided into batches and
// among ranks, and equal scores count as ties. They are those of scikit-learn.
//
// Thread-safe: what they return is const.
#ifndef TRAINYARD_TRACKING_SCORES_RANKING_SCORES_H_
#define TRAINYARD_TRACKING_SCORES_RANKING_SCORES_H_

#include <optional>
#include <string>
#include <vector>

#include "tracking/scores/score_average.h"
#include "trainer/supervised_metric.h"

namespace trainyard {

struct RankingScoreOptions {
  // Unset: kPositive for two classes, kMacro for more.
  std::optional<ScoreAverage> average = std::nullopt;
  // Whether outputs with several columns are logits: softmax, in float64, makes
  // them probabilities. False: they are compared as they are.
  bool from_logits = true;
  // For kPerClass. Empty: classes are numbered.
  std::vector<std::string> class_names = {};
};

// The probability that a record of the class has a higher score than one that
// is not; a tie counts half. NaN for a class to which no record or every record
// belongs; averages leave such classes out.
//
// The evaluation throws c10::ValueError if a score is NaN or a target is not a
// class number.
SupervisedMetric AucRoc(const RankingScoreOptions& options = {});

// The mean precision over the thresholds, weighted by the increase in recall.
// 0 for a class to which no record belongs. Throws as AucRoc.
SupervisedMetric AveragePrecision(const RankingScoreOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SCORES_RANKING_SCORES_H_
