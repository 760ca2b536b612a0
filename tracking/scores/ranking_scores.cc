#include "tracking/scores/ranking_scores.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/softmax.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace trainyard {
namespace {

struct RankedRecord {
  double score;
  bool positive;
};
using RankedRecords = std::vector<RankedRecord>;

// Records with equal scores, by descending score: how many are positive and how
// many are not, up to and including them.
struct ThresholdCounts {
  int64_t positive = 0;
  int64_t negative = 0;
};

std::vector<ThresholdCounts> CountByThreshold(RankedRecords records) {
  std::sort(records.begin(), records.end(),
            [](const RankedRecord& a, const RankedRecord& b) {
              return a.score > b.score;
            });
  std::vector<ThresholdCounts> counts;
  ThresholdCounts now;
  for (size_t i = 0; i < records.size(); ++i) {
    (records[i].positive ? now.positive : now.negative) += 1;
    if (i + 1 == records.size() || records[i + 1].score != records[i].score) {
      counts.push_back(now);
    }
  }
  return counts;
}

using RankingOf = double (*)(const std::vector<ThresholdCounts>& counts);

// Twice the area is an integer: the result has one rounding.
double AreaUnderRoc(const std::vector<ThresholdCounts>& counts) {
  const ThresholdCounts& all = counts.back();
  if (all.positive == 0 || all.negative == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  int64_t twice = 0;
  ThresholdCounts before;
  for (const ThresholdCounts& now : counts) {
    twice +=
        (now.negative - before.negative) * (now.positive + before.positive);
    before = now;
  }
  return static_cast<double>(twice) / 2 / static_cast<double>(all.positive) /
         static_cast<double>(all.negative);
}

double MeanPrecision(const std::vector<ThresholdCounts>& counts) {
  const auto positive = static_cast<double>(counts.back().positive);
  if (positive == 0) return 0;
  double sum = 0;
  int64_t before = 0;
  for (const ThresholdCounts& now : counts) {
    sum += static_cast<double>(now.positive - before) *
           static_cast<double>(now.positive) /
           static_cast<double>(now.positive + now.negative);
    before = now.positive;
  }
  return sum / positive;
}

at::Tensor ScoresAndTarget(const char* metric, const at::Tensor& outputs,
                           const at::Tensor& target, bool from_logits) {
  TORCH_CHECK_VALUE(
      (outputs.dim() == 1 || outputs.dim() == 2) && target.numel() > 0 &&
          outputs.size(0) == target.numel() && target.size(0) == target.numel(),
      metric, ": outputs are ", outputs.sizes(), " and the target is ",
      target.sizes(),
      "; outputs must be N x classes, N x 1 or N, and the target N");
  at::Tensor scores =
      outputs.detach().reshape({target.numel(), -1}).to(at::kDouble);
  if (from_logits && scores.size(1) > 1) scores = at::softmax(scores, 1);
  return at::cat({scores, target.detach().to(at::kDouble).reshape({-1, 1})}, 1);
}

ReducedValues Rank(const char* metric, const RankingScoreOptions& options,
                   RankingOf ranking_of, const at::Tensor& all) {
  const at::Tensor rows = all.cpu().contiguous();
  const double* values = rows.const_data_ptr<double>();
  const int64_t records = rows.size(0), columns = rows.size(1) - 1;
  const int64_t classes = std::max<int64_t>(columns, 2);
  const ScoreAverage average = AverageOf(options.average, classes, metric);
  TORCH_CHECK_VALUE(columns > 1 || average == ScoreAverage::kPositive, metric,
                    ": average is \"", ToString(average),
                    "\", which needs outputs with one column per class");
  const std::vector<std::string> keys =
      ClassKeys(options.class_names, classes, metric);
  for (int64_t i = 0; i < records; ++i) {
    const double* row = values + i * (columns + 1);
    for (int64_t j = 0; j < columns; ++j) {
      TORCH_CHECK_VALUE(!std::isnan(row[j]), metric,
                        ": a score is NaN; the model's outputs are invalid");
    }
    const double target = row[columns];
    TORCH_CHECK_VALUE(target >= 0 && target < static_cast<double>(classes) &&
                          target == std::floor(target),
                      metric, ": a target is ", target,
                      ", not a class number from 0 to ", classes - 1);
  }
  // With one column the scores are of class 1.
  const auto column_records = [&](int64_t column, RankedRecords& ranked) {
    const auto of = static_cast<double>(columns == 1 ? 1 : column);
    for (int64_t i = 0; i < records; ++i) {
      const double* row = values + i * (columns + 1);
      ranked.push_back({row[column], row[columns] == of});
    }
  };
  if (average == ScoreAverage::kPositive || average == ScoreAverage::kMicro) {
    RankedRecords ranked;
    if (average == ScoreAverage::kPositive) {
      column_records(columns == 1 ? 0 : 1, ranked);
    } else {
      for (int64_t j = 0; j < columns; ++j) column_records(j, ranked);
    }
    return {{"", ranking_of(CountByThreshold(std::move(ranked)))}};
  }
  ClassScores of_class;
  for (int64_t j = 0; j < columns; ++j) {
    RankedRecords ranked;
    column_records(j, ranked);
    const std::vector<ThresholdCounts> counts =
        CountByThreshold(std::move(ranked));
    of_class.push_back({keys[j], ranking_of(counts), counts.back().positive});
  }
  return AverageScores(of_class, average);
}

SupervisedMetric MakeRanking(const char* metric,
                             const RankingScoreOptions& options,
                             RankingOf ranking_of) {
  return {[metric, from_logits = options.from_logits](
              const at::Tensor& outputs, const at::Tensor& target) {
            return ScoresAndTarget(metric, outputs, target, from_logits);
          },
          ReduceToValues([metric, options, ranking_of](const at::Tensor& rows) {
            return Rank(metric, options, ranking_of, rows);
          })};
}

}  // namespace

SupervisedMetric AucRoc(const RankingScoreOptions& options) {
  return MakeRanking("AucRoc", options, AreaUnderRoc);
}

SupervisedMetric AveragePrecision(const RankingScoreOptions& options) {
  return MakeRanking("AveragePrecision", options, MeanPrecision);
}

}  // namespace trainyard
