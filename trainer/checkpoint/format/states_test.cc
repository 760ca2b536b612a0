#include "trainer/checkpoint/format/states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "trainer/checkpoint/format/frame.h"
#include "trainer/checkpoint/format/states.pb.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

PartStates Sample() {
  State state(4);
  state.Set("whole", std::numeric_limits<int64_t>::min());
  state.Set("number", -0.0);
  state.Set("text", std::string("\0\xFF", 2));
  state.Set("wholes", std::vector<int64_t>{1, -1});
  state.Set("numbers", std::vector<double>{});
  state.Set("tensor", std::shared_ptr<const at::Tensor>());
  return {{"part", state}, {"zero", State()}};
}

TEST(StatesTest, ParseInvertsFormat) {
  const auto file = FormatStates(Sample(), "save");
  ASSERT_TRUE(file.ok()) << file.status();
  const auto read = ParseStates(*file);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->save_uuid, "save");
  ASSERT_EQ(read->parts.size(), 2U);
  const State& state = read->parts.at("part");
  EXPECT_EQ(state.version(), 4);
  EXPECT_EQ(state.Get<int64_t>("whole"), std::numeric_limits<int64_t>::min());
  EXPECT_TRUE(std::signbit(state.Get<double>("number")));
  EXPECT_EQ(state.Get<std::string>("text"), std::string("\0\xFF", 2));
  EXPECT_EQ(state.Get<std::vector<int64_t>>("wholes"),
            (std::vector<int64_t>{1, -1}));
  EXPECT_TRUE(state.Get<std::vector<double>>("numbers").empty());
  ASSERT_EQ(read->tensors.size(), 1U);
  EXPECT_EQ(read->tensors[0].Path(), "part/tensor");
  EXPECT_FALSE(state.Has("tensor"));
}

TEST(StatesTest, RejectsInvalidNames) {
  for (const char* name : {"", "a/b", "\xFF"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        FormatStates({{name, State()}}, "save").status()))
        << name;
  }
}

struct Case {
  std::string name;
  std::function<void(pb::States&)> change;
  std::string message;
};

class StatesCaseTest : public ::testing::TestWithParam<Case> {};

TEST_P(StatesCaseTest, IsRejected) {
  pb::States states;
  pb::PartState& part = *states.add_parts();
  part.set_name("part");
  part.add_values()->set_name("a");
  part.mutable_values(0)->set_whole(1);
  ASSERT_TRUE(
      ParseStates(Framed(kStatesMagic, states.SerializeAsString())).ok());
  GetParam().change(states);
  const absl::Status read =
      ParseStates(Framed(kStatesMagic, states.SerializeAsString())).status();
  EXPECT_TRUE(absl::IsDataLoss(read)) << read;
  EXPECT_THAT(std::string(read.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Contradictions, StatesCaseTest,
    ::testing::Values(
        Case{"PartTwice", [](pb::States& s) { *s.add_parts() = s.parts(0); },
             "twice"},
        Case{"ValueTwice",
             [](pb::States& s) {
               *s.mutable_parts(0)->add_values() = s.parts(0).values(0);
             },
             "in the wrong place"},
        Case{"NoValue",
             [](pb::States& s) {
               s.mutable_parts(0)->mutable_values(0)->clear_value();
             },
             "has nothing for \"a\""},
        Case{"NoTensor",
             [](pb::States& s) {
               s.mutable_parts(0)->mutable_values(0)->set_tensor(false);
             },
             "has nothing for \"a\""},
        Case{"Slash",
             [](pb::States& s) { s.mutable_parts(0)->set_name("a/b"); },
             "a part called"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace trainyard
