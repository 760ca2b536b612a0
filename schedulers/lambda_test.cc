#include "schedulers/lambda.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

TEST(LambdaTest, HeaderExample) {
  const ScheduleFactory make = Lambda([](int64_t update, double base) {
    return base / (1.0 + 0.01 * static_cast<double>(update));
  });
  EXPECT_EQ(make({})->ValueAt(100, 3.0), 1.5);
}

TEST(LambdaTest, FactoryGetsTheLengthOfTheRun) {
  const ScheduleFactory make = [](const RunLength& run) {
    const auto total = static_cast<double>(run.total_updates.value());
    return Lambda([total](int64_t update, double base) {
      return base * (1 - static_cast<double>(update) / total);
    })(run);
  };
  EXPECT_EQ(make({.total_updates = 4})->ValueAt(1, 8.0), 6.0);
}

double Shape(const std::string& name, int64_t n) {
  if (name == "root") return 1 / std::sqrt(1.0 + static_cast<double>(n / 20));
  if (name == "fraction") return 1 / (1 + 0.1 * static_cast<double>(n / 25));
  if (name == "power") return std::pow(0.95, n / 10);
  if (name == "wave") return 1 + 0.5 * std::sin(n / 5);
  return 2 - static_cast<double>(n) / 400;
}

TEST(LambdaTest, EqualsPython) {
  ExpectGolden("lambda", Within::kOfValue, [](const GoldenCase& golden) {
    return Lambda([name = golden.Text("shape")](int64_t update, double base) {
      return base * Shape(name, update);
    });
  });
}

TEST(LambdaTest, AnEmptyFunctionIsRefused) {
  EXPECT_EQ(ErrorOf([] { Lambda(nullptr); }), "Lambda: the function is empty");
}

}  // namespace
}  // namespace trainyard
