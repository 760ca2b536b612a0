// Metrics that compare predicted with true classes: precision, recall, F1 and
// the confusion matrix.
//
//   auto task =
//       Supervised(model, CrossEntropy(),
//                  {{"f1", F1()},
//                   {"recall", Recall({.average = ScoreAverage::kPerClass})},
//                   {"confusion", ConfusionMatrix()}});
//
// Outputs have one column per class (N x classes, or N x classes x …), and the
// prediction is the largest; the target has class numbers. Outputs of the
// target's shape, or with one column, are of two classes: the prediction is 1
// where the output is above the threshold; the target is 0 or 1.
//
// Batches add integer counts on the device, so that the values do not depend on
// how the records are divided into batches and among ranks. The values are
// those of scikit-learn with labels=range(classes): a class that is absent
// counts.
//
// Thread-safe: what they return is const.
#ifndef TRAINYARD_TRACKING_SCORES_CLASS_SCORES_H_
#define TRAINYARD_TRACKING_SCORES_CLASS_SCORES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tracking/scores/score_average.h"
#include "trainer/supervised_metric.h"

namespace trainyard {

struct ClassScoreOptions {
  // Unset: kPositive for two classes, kMacro for more.
  std::optional<ScoreAverage> average = std::nullopt;
  // The score of a class for which it is 0 / 0: precision of a class that was
  // never predicted, recall of a class that never occurs, F1 of one that is
  // both. NaN: the class is left out of averages. REQUIRES: 0, 1 or NaN.
  double zero_division = 0;
  // For outputs of two classes in one column; 0 suits logits.
  double threshold = 0;
  // Records with this target do not count. Unset: all count.
  std::optional<int64_t> ignore_target = std::nullopt;
  // For kPerClass and the confusion matrix. Empty: classes are numbered.
  std::vector<std::string> class_names = {};
};

// Of the records predicted as a class, the share that are of it.
SupervisedMetric Precision(const ClassScoreOptions& options = {});

// Of the records of a class, the share that were predicted as it.
SupervisedMetric Recall(const ClassScoreOptions& options = {});

// The harmonic mean of precision and recall.
SupervisedMetric F1(const ClassScoreOptions& options = {});

struct ConfusionMatrixOptions {
  // As in ClassScoreOptions.
  double threshold = 0;
  std::optional<int64_t> ignore_target = std::nullopt;
  std::vector<std::string> class_names = {};
};

// Counts of records by true and predicted class: "<metric>_<true>_<predicted>",
// e.g. "eval_confusion_cat_dog" for a cat that was taken for a dog. One value
// for each pair of classes.
SupervisedMetric ConfusionMatrix(const ConfusionMatrixOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SCORES_CLASS_SCORES_H_
