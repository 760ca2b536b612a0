// The scores equal scikit-learn's, whatever batches the records come in.
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tracking/scores/class_scores.h"
#include "tracking/scores/ranking_scores.h"

namespace trainyard {
namespace {

struct Expected {
  std::string metric;
  std::string average;
  std::string zero_division;
  std::vector<double> values;
};

struct Case {
  std::string name;
  int64_t columns = 0;
  at::Tensor outputs;
  at::Tensor target;
  std::vector<Expected> expected;
};

std::vector<double> Numbers(std::istream& words) {
  std::vector<double> numbers;
  for (std::string word; words >> word;) {
    numbers.push_back(std::stod(word));  // reads "nan" too
  }
  return numbers;
}

std::vector<Case> ReadCases() {
  std::ifstream file("tracking/scores/testdata/scores.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "#") continue;
    if (first == "case") {
      std::string name, columns;
      words >> name >> columns;
      cases.push_back({.name = name, .columns = std::stoll(columns.substr(8))});
    } else if (first == "target") {
      cases.back().target = at::tensor(Numbers(words)).to(at::kLong);
    } else if (first == "outputs") {
      cases.back().outputs = at::tensor(Numbers(words), at::kDouble)
                                 .to(at::kFloat)
                                 .reshape({-1, cases.back().columns});
    } else {
      Expected expected{.metric = first};
      words >> expected.average >> expected.zero_division;
      expected.values = Numbers(words);
      cases.back().expected.push_back(expected);
    }
  }
  return cases;
}

SupervisedMetric MakeMetric(const Expected& expected) {
  static const std::map<std::string, ScoreAverage> averages = {
      {"positive", ScoreAverage::kPositive},
      {"micro", ScoreAverage::kMicro},
      {"macro", ScoreAverage::kMacro},
      {"weighted", ScoreAverage::kWeighted},
      {"per_class", ScoreAverage::kPerClass}};
  if (expected.metric == "confusion") return ConfusionMatrix();
  const ScoreAverage average = averages.at(expected.average);
  if (expected.metric == "auc") {
    return AucRoc({.average = average, .from_logits = false});
  }
  if (expected.metric == "ap") {
    return AveragePrecision({.average = average, .from_logits = false});
  }
  const ClassScoreOptions options{
      .average = average, .zero_division = std::stod(expected.zero_division)};
  if (expected.metric == "precision") return Precision(options);
  if (expected.metric == "recall") return Recall(options);
  return F1(options);
}

// Of records in batches of this size, every second one on another rank.
ReducedValues Values(const SupervisedMetric& metric, const Case& data,
                     int64_t batch_size) {
  const std::unique_ptr<MetricReducer> ranks[] = {metric.reducer(),
                                                  metric.reducer()};
  std::vector<at::Tensor> rows;
  const int64_t records = data.target.size(0);
  int64_t batch = 0;
  for (int64_t begin = 0; begin < records; begin += batch_size, ++batch) {
    const int64_t size = std::min(batch_size, records - begin);
    ranks[batch % 2]->Add(metric.of_batch(data.outputs.narrow(0, begin, size),
                                          data.target.narrow(0, begin, size)),
                          static_cast<double>(size));
  }
  rows.push_back(ranks[0]->Partial());
  if (batch > 1) rows.push_back(ranks[1]->Partial());
  return ranks[0]->Result(at::cat(rows));
}

// In the order of class numbers.
std::vector<double> InOrder(const ReducedValues& values, int64_t classes) {
  if (values.contains("")) return {values.at("")};
  std::vector<double> ordered;
  for (int64_t i = 0; i < classes; ++i) {
    const std::string key = std::to_string(i);
    if (values.contains(key)) ordered.push_back(values.at(key));
    for (int64_t j = 0; j < classes; ++j) {
      const std::string pair = key + "_" + std::to_string(j);
      if (values.contains(pair)) ordered.push_back(values.at(pair));
    }
  }
  EXPECT_EQ(ordered.size(), values.size());
  return ordered;
}

TEST(ScoresGoldenTest, EqualScikitLearnInBatchesOfAnySize) {
  const std::vector<Case> cases = ReadCases();
  ASSERT_EQ(cases.size(), 15);
  int64_t compared = 0;
  for (const Case& data : cases) {
    for (const Expected& expected : data.expected) {
      SCOPED_TRACE(data.name + ": " + expected.metric + " " + expected.average +
                   " " + expected.zero_division);
      const SupervisedMetric metric = MakeMetric(expected);
      const int64_t classes = std::max<int64_t>(data.columns, 2);
      const std::vector<double> whole =
          InOrder(Values(metric, data, 1000), classes);
      ASSERT_EQ(whole.size(), expected.values.size());
      for (size_t i = 0; i < whole.size(); ++i) {
        if (std::isnan(expected.values[i])) {
          EXPECT_TRUE(std::isnan(whole[i])) << whole[i];
        } else {
          EXPECT_NEAR(whole[i], expected.values[i], 4e-16 * 8);
        }
        ++compared;
      }
      // Equal to the bit; batches of one record only where there are few.
      const int64_t least = data.target.size(0) > 40 ? 13 : 1;
      for (const int64_t batch_size : {least, int64_t{31}}) {
        const std::vector<double> split =
            InOrder(Values(metric, data, batch_size), classes);
        ASSERT_EQ(split.size(), whole.size());
        for (size_t i = 0; i < whole.size(); ++i) {
          if (std::isnan(whole[i])) {
            EXPECT_TRUE(std::isnan(split[i]));
          } else {
            EXPECT_EQ(split[i], whole[i]) << "batches of " << batch_size;
          }
        }
      }
    }
  }
  EXPECT_EQ(compared, 1235);
}

}  // namespace
}  // namespace trainyard
