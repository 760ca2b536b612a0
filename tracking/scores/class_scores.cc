#include "tracking/scores/class_scores.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <utility>

namespace trainyard {
namespace {

struct CountOptions {
  const char* metric;
  double threshold;
  std::optional<int64_t> ignore_target;
};

// The records of a batch as class numbers; `classes` in both stands for a
// record that does not count.
struct Predictions {
  int64_t classes = 0;
  at::Tensor predicted;
  at::Tensor target;
  // Records whose target is no class number, as a tensor of one element.
  at::Tensor invalid;
};

Predictions Predict(const at::Tensor& outputs, const at::Tensor& target,
                    const CountOptions& options) {
  Predictions result;
  at::Tensor predicted;
  if (outputs.dim() == target.dim() + 1 && outputs.size(1) > 1) {
    result.classes = outputs.size(1);
    predicted = outputs.argmax(1);
  } else {
    result.classes = 2;
    predicted = outputs.gt(options.threshold).to(at::kLong);
  }
  TORCH_CHECK_VALUE(
      predicted.numel() == target.numel() &&
          predicted.size(0) == target.size(0),
      options.metric, ": outputs are ", outputs.sizes(), " and the target is ",
      target.sizes(),
      "; outputs must have one column per class, or the target's shape");
  const at::Tensor truth = target.detach().reshape({-1});
  const at::Tensor number = truth.to(at::kLong);
  at::Tensor valid = number.ge(0)
                         .logical_and_(number.lt(result.classes))
                         .logical_and_(number.eq(truth));
  at::Tensor wrong = valid.logical_not();
  if (options.ignore_target) {
    const at::Tensor ignored = truth.eq(*options.ignore_target);
    wrong.logical_and_(ignored.logical_not());
    valid.logical_and_(ignored.logical_not());
  }
  const at::Tensor out = valid.logical_not();
  result.invalid = wrong.sum().reshape({1});
  result.predicted =
      predicted.detach().reshape({-1}).masked_fill(out, result.classes);
  result.target = number.masked_fill(out, result.classes);
  return result;
}

// How often each number below `size` occurs; larger ones are left out. Integer
// sums, and no wait for the device.
at::Tensor Tally(const at::Tensor& numbers, int64_t size) {
  return at::zeros({size + 1}, numbers.options())
      .index_add_(0, numbers, at::ones(numbers.sizes(), numbers.options()))
      .narrow(0, 0, size);
}

void CheckInvalid(const char* metric, int64_t invalid, int64_t classes) {
  TORCH_CHECK_VALUE(invalid == 0, metric, ": ", invalid,
                    " targets are not class numbers from 0 to ", classes - 1,
                    "; set ignore_target if they should not count");
}

// Correct, predicted and true records of each class.
struct ClassCounts {
  int64_t correct = 0;
  int64_t predicted = 0;
  int64_t actual = 0;
};

at::Tensor CountClasses(const at::Tensor& outputs, const at::Tensor& target,
                        const CountOptions& options) {
  const Predictions batch = Predict(outputs, target, options);
  const at::Tensor correct =
      batch.target.masked_fill(batch.predicted.ne(batch.target), batch.classes);
  return at::cat({Tally(correct, batch.classes),
                  Tally(batch.predicted, batch.classes),
                  Tally(batch.target, batch.classes), batch.invalid});
}

std::vector<ClassCounts> ReadCounts(const at::Tensor& sums,
                                    const char* metric) {
  const at::Tensor counts = sums.contiguous();
  const int64_t* values = counts.const_data_ptr<int64_t>();
  const int64_t classes = (counts.numel() - 1) / 3;
  CheckInvalid(metric, values[3 * classes], classes);
  std::vector<ClassCounts> result;
  for (int64_t i = 0; i < classes; ++i) {
    result.push_back({values[i], values[classes + i], values[2 * classes + i]});
  }
  return result;
}

using ScoreOf = double (*)(const ClassCounts& counts, double zero_division);

double Ratio(int64_t numerator, int64_t denominator, double zero_division) {
  if (denominator == 0) return zero_division;
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}

SupervisedMetric MakeScore(const char* metric, const ClassScoreOptions& options,
                           ScoreOf score_of) {
  TORCH_CHECK_VALUE(options.zero_division == 0 || options.zero_division == 1 ||
                        std::isnan(options.zero_division),
                    metric, ": zero_division is ", options.zero_division,
                    "; it must be 0, 1 or NaN");
  const CountOptions counting{metric, options.threshold, options.ignore_target};
  const auto of_batch = [counting](const at::Tensor& outputs,
                                   const at::Tensor& target) {
    return CountClasses(outputs, target, counting);
  };
  const auto scores = [metric, options,
                       score_of](const at::Tensor& sums) -> ReducedValues {
    const std::vector<ClassCounts> counts = ReadCounts(sums, metric);
    const auto classes = static_cast<int64_t>(counts.size());
    const ScoreAverage average = AverageOf(options.average, classes, metric);
    const std::vector<std::string> keys =
        ClassKeys(options.class_names, classes, metric);
    ClassScores of_class;
    ClassCounts all;
    for (size_t i = 0; i < counts.size(); ++i) {
      of_class.push_back({keys[i], score_of(counts[i], options.zero_division),
                          counts[i].actual});
      all.correct += counts[i].correct;
      all.predicted += counts[i].predicted;
      all.actual += counts[i].actual;
    }
    if (average == ScoreAverage::kMicro) {
      return {{"", score_of(all, options.zero_division)}};
    }
    return AverageScores(of_class, average);
  };
  return {of_batch, ReduceCounts(scores)};
}

}  // namespace

SupervisedMetric Precision(const ClassScoreOptions& options) {
  return MakeScore("Precision", options,
                   [](const ClassCounts& counts, double zero_division) {
                     return Ratio(counts.correct, counts.predicted,
                                  zero_division);
                   });
}

SupervisedMetric Recall(const ClassScoreOptions& options) {
  return MakeScore("Recall", options,
                   [](const ClassCounts& counts, double zero_division) {
                     return Ratio(counts.correct, counts.actual, zero_division);
                   });
}

SupervisedMetric F1(const ClassScoreOptions& options) {
  return MakeScore(
      "F1", options, [](const ClassCounts& counts, double zero_division) {
        return Ratio(2 * counts.correct, counts.predicted + counts.actual,
                     zero_division);
      });
}

SupervisedMetric ConfusionMatrix(const ConfusionMatrixOptions& options) {
  const CountOptions counting{"ConfusionMatrix", options.threshold,
                              options.ignore_target};
  const auto of_batch = [counting](const at::Tensor& outputs,
                                   const at::Tensor& target) {
    const Predictions batch = Predict(outputs, target, counting);
    const int64_t classes = batch.classes;
    const at::Tensor pair =
        batch.target.mul(classes)
            .add(batch.predicted)
            .masked_fill(batch.target.eq(classes), classes * classes);
    return at::cat({Tally(pair, classes * classes), batch.invalid});
  };
  const auto matrix =
      [names = options.class_names](const at::Tensor& sums) -> ReducedValues {
    const at::Tensor counts = sums.contiguous();
    const int64_t* values = counts.const_data_ptr<int64_t>();
    const int64_t cells = counts.numel() - 1;
    const auto classes = static_cast<int64_t>(
        std::llround(std::sqrt(static_cast<double>(cells))));
    CheckInvalid("ConfusionMatrix", values[cells], classes);
    const std::vector<std::string> keys =
        ClassKeys(names, classes, "ConfusionMatrix");
    ReducedValues result;
    for (int64_t i = 0; i < cells; ++i) {
      result[keys[i / classes] + "_" + keys[i % classes]] =
          static_cast<double>(values[i]);
    }
    return result;
  };
  return {of_batch, ReduceCounts(matrix)};
}

}  // namespace trainyard
