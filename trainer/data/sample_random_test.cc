#include "trainer/data/sample_random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

namespace trainyard {
namespace {

TEST(SampleRandomTest, KeysDependOnSeedEpochAndIndex) {
  std::set<uint64_t> keys;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (int64_t epoch = 0; epoch < 10; ++epoch) {
      for (int64_t index = 0; index < 100; ++index)
        keys.insert(SampleKey(seed, epoch, index));
    }
  }
  EXPECT_EQ(keys.size(), 10U * 10 * 100);
}

// Stored orders depend on these: they must not change with a release.
TEST(SampleRandomTest, NumbersEqualTheReference) {
  EXPECT_EQ(EpochKey(1, 2), 17911839290282890590U);
  EXPECT_EQ(SampleKey(1, 2, 3), 1072907043932612987U);
  SampleRandom random(0);
  EXPECT_EQ(random.Bits(), 0xE220A8397B1DCDAFULL);  // splitmix64's first of 0
  EXPECT_EQ(random.Bits(), 0x6E789E6AA1B965F4ULL);
}

TEST(SampleRandomTest, NeighboursAreIndependent) {
  // The first number of sample i and of sample i + 1: no correlation.
  double sum = 0;
  constexpr int kSamples = 20000;
  for (int i = 0; i < kSamples; ++i) {
    const double here = SampleRandom(SampleKey(1, 0, i)).Uniform() - 0.5;
    const double next = SampleRandom(SampleKey(1, 0, i + 1)).Uniform() - 0.5;
    sum += here * next * 12;
  }
  EXPECT_NEAR(sum / kSamples, 0, 4 / std::sqrt(kSamples));
}

TEST(SampleRandomTest, BelowIsUniform) {
  SampleRandom random(7);
  std::vector<int> counts(5);
  for (int i = 0; i < 50000; ++i) ++counts.at(random.Below(5));
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);
  EXPECT_EQ(random.Below(1), 0);
  EXPECT_THROW(random.Below(0), std::invalid_argument);
}

TEST(SampleRandomTest, ChanceAndUniformAreInTheirRange) {
  SampleRandom random(7);
  int heads = 0;
  for (int i = 0; i < 10000; ++i) {
    heads += random.Chance(0.3);
    const double value = random.Uniform(2, 3);
    ASSERT_GE(value, 2);
    ASSERT_LT(value, 3);
  }
  EXPECT_NEAR(heads, 3000, 200);
  EXPECT_FALSE(random.Chance(0));
  EXPECT_TRUE(random.Chance(1));
}

struct Moments {
  double mean = 0, variance = 0;
};

template <class Draw>
Moments MomentsOf(Draw draw) {
  constexpr int kDraws = 40000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = draw();
    sum += value;
    squares += value * value;
  }
  const double mean = sum / kDraws;
  return {mean, squares / kDraws - mean * mean};
}

TEST(SampleRandomTest, NormalHasItsMoments) {
  SampleRandom random(7);
  const Moments moments = MomentsOf([&] { return random.Normal(); });
  EXPECT_NEAR(moments.mean, 0, 0.02);
  EXPECT_NEAR(moments.variance, 1, 0.03);
}

TEST(SampleRandomTest, BetaHasItsMoments) {
  SampleRandom random(7);
  for (const auto& [a, b] : {std::pair(0.2, 0.2), {1.0, 1.0}, {2.0, 5.0}}) {
    const Moments moments = MomentsOf([&] { return random.Beta(a, b); });
    EXPECT_NEAR(moments.mean, a / (a + b), 0.01) << a;
    EXPECT_NEAR(moments.variance, a * b / ((a + b) * (a + b) * (a + b + 1)),
                0.01)
        << a;
  }
  EXPECT_THROW(random.Beta(0, 1), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard
