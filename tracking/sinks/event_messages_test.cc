#include "tracking/sinks/event_messages.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace trainyard {
namespace {

std::string Hex(const std::string& message) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string HexOf(decltype(tracking::Record::what) what) {
  return Hex(EventMessage({.step = 300, .time = 1.5, .what = std::move(what)}));
}

// The expected bytes are those of the same messages made with the classes of
// the tensorboard 2.21 package.

TEST(EventMessagesTest, VersionIsEqualToTensorBoards) {
  EXPECT_EQ(Hex(VersionMessage(1.5)),
            "09000000000000f83f1a0d627261696e2e4576656e743a32");
}

TEST(EventMessagesTest, HeaderExample) {
  const std::string bytes = EventMessage(
      {.step = 300, .time = 1.5, .what = tracking::Row{{"loss", 0.1}}});
  EXPECT_EQ(Hex(bytes), HexOf(tracking::Row{{"loss", 0.1}}));
}

TEST(EventMessagesTest, RowIsEqualToTensorBoards) {
  EXPECT_EQ(HexOf(tracking::Row{{"loss", 0.1}, {"lr", 0.001}}),
            "09000000000000f83f10ac022a180a0b0a046c6f737315cdcccc3d0a090a"
            "026c72156f12833a");
}

TEST(EventMessagesTest, HistogramIsEqualToTensorBoards) {
  EXPECT_EQ(HexOf(tracking::Histogram{.name = "w",
                                      .min = 1,
                                      .max = 2,
                                      .count = 3,
                                      .sum = 4,
                                      .sum_of_squares = 6,
                                      .upper_limits = {1.5, 2},
                                      .counts = {1, 2}}),
            "09000000000000f83f10ac022a580a560a01772a5109000000000000f03f"
            "110000000000000040190000000000000840210000000000001040290000"
            "0000000018403210000000000000f83f00000000000000403a1000000000"
            "0000f03f0000000000000040");
}

TEST(EventMessagesTest, TextIsEqualToTensorBoards) {
  EXPECT_EQ(HexOf(tracking::Text{.name = "n", .text = "hi"}),
            "09000000000000f83f10ac022a2a0a280a0e6e2f746578745f73756d6d61"
            "7279420c0807120412020801420268694a080a060a0474657874");
}

TEST(EventMessagesTest, HyperParametersAreEqualToTensorBoards) {
  EXPECT_EQ(HexOf(tracking::HyperParameters{
                .values = {{"lr", 0.5},
                           {"amp", true},
                           {"model", std::string("conv")}},
                .metrics = {"loss"}}),
            "09000000000000f83f10ac022ab6010a4d0a145f68706172616d735f2f65"
            "78706572696d656e744a350a330a0768706172616d731228122622070a03"
            "616d70200222060a026c72200322090a056d6f64656c20012a080a061204"
            "6c6f73730a650a1c5f68706172616d735f2f73657373696f6e5f73746172"
            "745f696e666f4a450a430a0768706172616d7312381a360a090a03616d70"
            "120220010a0f0a026c72120911000000000000e03f0a0f0a056d6f64656c"
            "12061a04636f6e7629000000000000f83f");
}

// A number that is 0 is written, and not left out as a default.
TEST(EventMessagesTest, ZeroIsEqualToTensorBoards) {
  EXPECT_EQ(HexOf(tracking::Row{{"loss", 0}}),
            "09000000000000f83f10ac022a0d0a0b0a046c6f73731500000000");
}

TEST(EventMessagesTest, ImageHoldsItsSizeAndAPng) {
  const std::string hex = HexOf(tracking::Image{
      .name = "i", .width = 2, .height = 1, .pixels = {0, 255}});
  // Height 1, width 2, 1 channel, then the file's first bytes.
  EXPECT_NE(hex.find("080110021801"), std::string::npos);
  EXPECT_NE(hex.find("89504e470d0a1a0a"), std::string::npos);
  EXPECT_THROW(EventMessage({.what = tracking::Image{.name = "empty"}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace trainyard
