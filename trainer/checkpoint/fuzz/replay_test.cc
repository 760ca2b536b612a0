// Replays every file of a corpus, also with each byte changed and cut off.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "trainer/checkpoint/fuzz/fuzz_entry.h"

namespace trainyard {
namespace {

TEST(ReplayTest, AcceptsTheWholeCorpus) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string("trainer/checkpoint/fuzz/corpus/") +
           std::getenv("CORPUS"))) {
    std::stringstream content;
    content << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    const std::string bytes = content.str();
    FuzzOne(bytes);
    for (size_t at = 0; at < bytes.size() && at < 1000; ++at) {
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] + 1);
      FuzzOne(other);
      FuzzOne(std::string_view(bytes).substr(0, at));
    }
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace trainyard
