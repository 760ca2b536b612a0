#include "tools/inspect/memory_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

struct Result {
  int code;
  std::string out, err;
};

Result Tool(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int code = RunMemoryTool(arguments, out, err);
  return {code, out.str(), err.str()};
}

TEST(MemoryToolTest, HeaderExample) {
  std::ostringstream out, err;
  const int code = RunMemoryTool({"1000000000", "8"}, out, err);
  EXPECT_EQ(code, 0);
  EXPECT_THAT(out.str(), HasSubstr("zero2 "));
}

TEST(MemoryToolTest, PrintsATable) {
  const Result result = Tool({"104857600", "4", "--largest=1048576"});
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "MiB           weights    gradients        state     exchange"
            "        total\n"
            "ddp             400.0        400.0        800.0          4.0"
            "       1604.0\n"
            "zero1           400.0        500.0        200.0         50.0"
            "       1150.0\n"
            "zero2           400.0        100.0        200.0        116.5"
            "        816.5\n"
            "fsdp            100.0        100.0        200.0        516.5"
            "        916.5\n");
  // 12 MiB of one unit, and of the next one.
  EXPECT_THAT(
      Tool({"104857600", "4", "--largest=1048576", "--unit=3145728"}).out,
      HasSubstr("fsdp            100.0        100.0        200.0         76.0"
                "        476.0\n"));
}

TEST(MemoryToolTest, RejectsInvalidArguments) {
  EXPECT_EQ(Tool({"5"}).code, 2);
  EXPECT_THAT(Tool({"5"}).err, HasSubstr("takes PARAMETERS and RANKS, not 1"));
  EXPECT_THAT(Tool({"1e9", "4"}).err,
              HasSubstr("'1e9' is not a number of parameters"));
  EXPECT_THAT(Tool({"0", "4"}).err, HasSubstr("parameters is 0; it must be"));
  EXPECT_THAT(Tool({"5", "0"}).err, HasSubstr("ranks is 0; it must be 1 to"));
  EXPECT_THAT(Tool({"5", "2", "--largest=6"}).err,
              HasSubstr("largest is 6; it must be 1 to 5"));
  EXPECT_THAT(Tool({"5", "2", "--unit=6"}).err,
              HasSubstr("unit is 6; it must be 1 to 5"));
  EXPECT_THAT(Tool({"5", "2", "--unit=2", "--largest=3"}).err,
              HasSubstr("unit is 2, less than largest"));
  EXPECT_THAT(Tool({"5", "2", "--bucket=6"}).err, HasSubstr("bucket_bytes"));
  EXPECT_THAT(Tool({"--help"}).out, HasSubstr("PARAMETERS RANKS"));
}

}  // namespace
}  // namespace trainyard
