#include "tools/report/fine_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Series Line(size_t size, double stride = 2) {
  Series line;
  for (size_t i = 0; i < size; ++i) {
    line.steps.push_back(10 + stride * static_cast<double>(i));
    line.times.push_back(100 + static_cast<double>(i));
    line.values.push_back(static_cast<double>(i + 1));
  }
  return line;
}

// The bytes of floats 1, 2, 3 and of 0, 2, as Python's base64 gives them.
TEST(FinePointsTest, PacksAllPointsWhereTheyFit) {
  EXPECT_EQ(FineJson({{"loss", Line(3)}, {"short", Line(2)}},
                     {.most_points = 2, .start = 100}),
            R"({"loss":{"n":3,"s0":10,"ds":2,"every":16,"t":"AAAAAAAAAEA=",)"
            R"("v":"AACAPwAAAEAAAEBA"}})");
}

TEST(FinePointsTest, UnevenStepsAreListed) {
  Series line = Line(3);
  line.steps[2] = 15;
  const std::string json =
      FineJson({{"loss", line}}, {.most_points = 2, .start = 100});
  EXPECT_THAT(json, HasSubstr(R"("s":"CgAAAAwAAAAPAAAA")"));
  EXPECT_THAT(json, Not(HasSubstr("ds")));
}

// Not by matchers: they would print all of it.
bool Has(const std::string& json, const char* text) {
  return json.find(text) != std::string::npos;
}

TEST(FinePointsTest, MergesWhatDoesNotFit) {
  const std::map<std::string, Series> lines = {{"a", Line(100'000)},
                                               {"b", Line(300'000)}};
  for (const size_t bytes : {100'000, 1'000'000, 2'000'000}) {
    const std::string json =
        FineJson(lines, {.most_points = 100, .bytes = bytes});
    EXPECT_LT(json.size(), bytes * 1.01);
    EXPECT_GT(json.size(), bytes * 0.6);
    EXPECT_TRUE(Has(json, "\"lo\":"));
  }
  const std::string all = FineJson(lines, {.most_points = 100});
  EXPECT_TRUE(Has(all, "\"n\":300000"));
  EXPECT_FALSE(Has(all, "\"lo\":"));
}

TEST(FinePointsTest, LeavesOutWhatWouldBeNoFiner) {
  EXPECT_EQ(FineJson({{"loss", Line(1000)}}, {.most_points = 500, .bytes = 0}),
            "{}");
  EXPECT_EQ(FineJson({{"loss", Line(1000, 1e7)}}, {.most_points = 500}), "{}")
      << "steps of more than 32 bits";
}

}  // namespace
}  // namespace trainyard
