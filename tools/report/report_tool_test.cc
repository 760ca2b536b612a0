#include "tools/report/report_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tools/report/run_data.h"
#include "trainer/io/json_reader.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

class ReportToolTest : public ::testing::Test {
 protected:
  ReportToolTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = ::testing::TempDir() + "/" + test->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }

  int Run(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    return RunReportTool(arguments, out_, err_);
  }

  // The data of the written page, which must be JSON.
  std::string Data() {
    std::ifstream file(folder_ + "/report.html");
    const std::string page(std::istreambuf_iterator<char>(file), {});
    const std::string open = "type=\"application/json\">";
    const size_t start = page.find(open) + open.size();
    const std::string data =
        page.substr(start, page.find("</script>", start) - start);
    JsonReader json(data);
    EXPECT_TRUE(json.Skip() && json.End()) << json.status();
    return data;
  }

  std::string folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ReportToolTest, HeaderExample) {
  Write("metrics.jsonl", "{\"step\":1,\"time\":100.5,\"loss\":0.5}\n");
  const std::string folder = folder_, path = folder_ + "/first.html";
  std::ostringstream out, err;
  const int code = RunReportTool({folder, "--out=" + path}, out, err);
  EXPECT_EQ(code, 0) << err.str();
  EXPECT_GT(fs::file_size(path), 1000);
}

TEST_F(ReportToolTest, RunDataHeaderExample) {
  Write("metrics.jsonl", "{\"step\":1,\"time\":100.5,\"loss\":0.5}\n");
  const std::string folder = folder_;
  RunData run(folder);
  run.Refresh();
  const std::string json = run.ToJson(/*most_points=*/4096);
  EXPECT_THAT(json, HasSubstr("\"loss\":{\"s\":[1]"));
}

TEST_F(ReportToolTest, WritesEverythingInTheFolder) {
  Write("metrics.jsonl", "{\"step\":16777217,\"time\":100.5,\"loss\":0.5}\n");
  Write("run.json", "{\"config\": {\"lr\": \"0.1\"}}");
  Write("summary.json", "{\"epochs\": 2}");
  fs::create_directories(folder_ + "/checkpoints/step-10");
  fs::create_directories(folder_ + "/step-9");
  Write("step-9/model", "12345");
  ASSERT_EQ(Run({folder_}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "wrote " + folder_ + "/report.html\n");
  const std::string data = Data();
  EXPECT_THAT(data,
              HasSubstr("\"loss\":{\"s\":[16777217],\"t\":[0],\"v\":[0.5]}"));
  EXPECT_THAT(data, HasSubstr("\"config\": {\"lr\": \"0.1\"}"));
  EXPECT_THAT(data, HasSubstr("\"summary\":{\"epochs\": 2}"));
  EXPECT_THAT(data, HasSubstr("[{\"name\":\"step-9\",\"bytes\":5},{\"name\":"
                              "\"step-10\",\"bytes\":0}]"));
}

TEST_F(ReportToolTest, NamesUnreadableFilesAndEscapesTags) {
  Write("run.json", "{broken");
  Write("summary.json", "{\"</script><script>alert(1)\": 1}");
  Write("metrics.jsonl", "nonsense\n");
  ASSERT_EQ(Run({folder_}), 0) << err_.str();
  const std::string data = Data();
  EXPECT_THAT(data, HasSubstr("run.json cannot be read"));
  EXPECT_THAT(data, HasSubstr("metrics.jsonl has 1 bad lines"));
  EXPECT_THAT(data, Not(HasSubstr("<")));
}

TEST_F(ReportToolTest, MergesToTheGivenNumberOfPoints) {
  std::string text;
  for (int step = 1; step <= 10; ++step) {
    text += "{\"step\":" + std::to_string(step) +
            ",\"time\":1,\"loss\":" + std::to_string(step) + "}\n";
  }
  Write("metrics.jsonl", text);
  ASSERT_EQ(Run({folder_, "--points=2"}), 0) << err_.str();
  EXPECT_THAT(Data(), HasSubstr("\"s\":[5,10],\"t\":[0,0],\"v\":[3,8],"
                                "\"lo\":[1,6],\"hi\":[5,10]"));
}

TEST_F(ReportToolTest, ErrorsAreOneLine) {
  for (const auto& [arguments, message] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "report: no run folder is given; see --help\n"},
           {{"/no/such"}, "report: there is no folder /no/such\n"},
           {{folder_, "--points=0"},
            "report: --points is '0', want 2 to 1048576\n"},
           {{folder_, "--prot=1"}, "report: --prot is not a setting"}}) {
    EXPECT_EQ(Run(arguments), 1);
    EXPECT_THAT(err_.str(), HasSubstr(message));
  }
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("--serve"));
}

}  // namespace
}  // namespace trainyard
