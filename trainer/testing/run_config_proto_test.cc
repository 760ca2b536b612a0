#include "trainer/run_config_proto.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

// Every field has a value of its own, so that none can be forgotten or swapped.
TEST(RunConfigProtoTest, KeepsEveryField) {
  proto::RunConfig filled;
  const auto* reflection = filled.GetReflection();
  const auto* fields = filled.GetDescriptor();
  for (int i = 0; i < fields->field_count(); ++i) {
    const auto* field = fields->field(i);
    if (field->cpp_type() == field->CPPTYPE_STRING) {
      reflection->SetString(&filled, field, "text " + std::to_string(i));
    } else {
      reflection->SetInt64(&filled, field, 100 + i);
    }
  }
  const RunConfig config = FromProto(filled);
  EXPECT_EQ(ToProto(config).SerializeAsString(), filled.SerializeAsString());
  // And the record has no field that the message lacks.
  ASSERT_EQ(config.Fields().size(), static_cast<size_t>(fields->field_count()));
  for (int i = 0; i < fields->field_count(); ++i) {
    EXPECT_EQ(config.Fields()[i].first, fields->field(i)->name());
    EXPECT_NE(config.Fields()[i].second, "");
  }
}

}  // namespace
}  // namespace trainyard
