// GoogleMock comes with GoogleTest, and its main() also sets mocks up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Return;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int Now() = 0;
};

class MockClock final : public Clock {
 public:
  MOCK_METHOD(int, Now, (), (override));
};

TEST(GoogletestTest, MocksAnswer) {
  MockClock clock;
  EXPECT_CALL(clock, Now()).WillOnce(Return(3)).WillOnce(Return(4));
  EXPECT_EQ(clock.Now(), 3);
  EXPECT_EQ(clock.Now(), 4);
}

TEST(GoogletestTest, MatchersMatch) {
  EXPECT_THAT(std::vector<int>({1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(std::string("early stopping"), HasSubstr("stop"));
}

}  // namespace
