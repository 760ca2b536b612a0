#include "trainer/or_throw.h"

#include <gtest/gtest.h>

#include <memory>

namespace trainyard {
namespace {

TEST(OrThrowTest, ReturnsTheValue) {
  EXPECT_EQ(
      *OrThrow(absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(7))),
      7);
  EXPECT_NO_THROW(OrThrow(absl::OkStatus()));
}

TEST(OrThrowTest, KeepsMessageAndCode) {
  try {
    OrThrow(absl::StatusOr<int>(absl::NotFoundError("no such file")));
    FAIL() << "did not throw";
  } catch (const StatusError& e) {
    EXPECT_STREQ(e.what(), "no such file");
    EXPECT_EQ(e.code(), absl::StatusCode::kNotFound);
  }
}

}  // namespace
}  // namespace trainyard
