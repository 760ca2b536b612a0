#include "trainer/or_throw.h"

#include <gtest/gtest.h>

#include <memory>

namespace trainyard {
namespace {

TEST(OrThrowTest, GivesTheValue) {
  EXPECT_EQ(
      *OrThrow(absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(7))),
      7);
  EXPECT_NO_THROW(OrThrow(absl::OkStatus()));
}

TEST(OrThrowTest, ThrowsTheMessageAlone) {
  try {
    OrThrow(absl::StatusOr<int>(absl::NotFoundError("no such file")));
    FAIL() << "an error had a value";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "no such file");
  }
}

}  // namespace
}  // namespace trainyard
