// proto_library and cc_proto_library generate code that fits the library beside
// it.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "third_party/protobuf/sample.pb.h"

namespace {

using trainyard::third_party::Sample;

TEST(ProtobufTest, MessagesSurviveTheWire) {
  Sample sent;
  sent.set_name("weight");
  sent.add_shape(3);
  sent.add_shape(4);
  Sample received;
  ASSERT_TRUE(received.ParseFromString(sent.SerializeAsString()));
  EXPECT_EQ(received.name(), "weight");
  EXPECT_EQ(received.shape(1), 4);
  EXPECT_FALSE(received.has_best());
}

TEST(ProtobufTest, TextFormatReadsAndWrites) {
  Sample sample;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "name: 'bias' best: 0.5", &sample));
  std::string text;
  ASSERT_TRUE(google::protobuf::TextFormat::PrintToString(sample, &text));
  EXPECT_EQ(text, "name: \"bias\"\nbest: 0.5\n");
}

}  // namespace
