// Places that processes find by the variables of their launcher: recorded in
// testdata/launchers.txt.

#include "backends/processes/launcher_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "backends/processes/rendezvous.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

struct Recording {
  std::string form;
  std::string expected;
  std::map<std::string, std::string> variables;

  Environment environment() const {
    return [this](const char* name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    };
  }
};

void PrintTo(const Recording& recording, std::ostream* stream) {
  *stream << recording.form;
}

std::vector<Recording> ReadRecordings() {
  std::ifstream file("backends/processes/testdata/launchers.txt");
  std::vector<Recording> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      all.push_back({.form = line});
    } else if (line.starts_with("=> ")) {
      all.back().expected = line.substr(3);
    } else {
      const size_t equals = line.find('=');
      all.back().variables[line.substr(0, equals)] = line.substr(equals + 1);
    }
  }
  return all;
}

std::string PlaceOf(const Recording& recording) {
  const Rendezvous all = RendezvousFromEnvironment(recording.environment());
  return "rank " + std::to_string(all.rank) + " of " +
         std::to_string(all.world_size) + ", local " +
         std::to_string(all.local_rank) + " of " +
         std::to_string(all.local_world_size) + ", address " + all.address;
}

class LauncherTableTest : public ::testing::TestWithParam<Recording> {};

TEST_P(LauncherTableTest, FindsItsPlace) {
  constexpr std::string_view kRefused = "refused: ";
  const Recording& recording = GetParam();
  if (recording.expected.starts_with(kRefused)) {
    EXPECT_THAT(ErrorOf([&] { PlaceOf(recording); }),
                HasSubstr(recording.expected.substr(kRefused.size())));
  } else {
    EXPECT_EQ(PlaceOf(recording), recording.expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, LauncherTableTest,
                         ::testing::ValuesIn(ReadRecordings()));

TEST(LauncherTableTest, EveryRowButPlainPmiIsRecorded) {
  std::set<std::string> recorded;
  for (const Recording& recording : ReadRecordings()) {
    const LauncherRow* row = FindLauncher(recording.environment());
    if (row != nullptr) recorded.insert(row->launcher);
  }
  for (const LauncherRow& row : LauncherTable()) {
    EXPECT_EQ(recorded.count(row.launcher),
              row.launcher != std::string("a launcher that speaks PMI"))
        << row.launcher;
  }
}

TEST(LauncherTableTest, HeaderExample) {
  const Environment environment =
      [](const char* name) -> std::optional<std::string> {
    if (std::string(name) != "RANK") return std::nullopt;
    return "1";
  };
  const LauncherRow* row = FindLauncher(environment);  // null: none
  ASSERT_NE(row, nullptr);
  std::printf("started by %s\n", row->launcher);
  EXPECT_EQ(FindLauncher([](const char*) { return std::nullopt; }), nullptr);
}

// A job is never taken for one on a single machine only because nothing says
// how many ranks are here.
TEST(LauncherTableTest, OneMachineOnlyIfAllRanksAreKnownToBeHere) {
  for (const Recording& recording : ReadRecordings()) {
    if (recording.expected.starts_with("refused")) continue;
    const Rendezvous all = RendezvousFromEnvironment(recording.environment());
    const bool here = recording.expected.ends_with("127.0.0.1") ||
                      recording.expected.ends_with("localhost") ||
                      recording.form.find("one host") != std::string::npos;
    EXPECT_EQ(all.one_machine(),
              here && recording.form.find("nnodes=2") == std::string::npos)
        << recording.form;
  }
}

}  // namespace
}  // namespace trainyard
