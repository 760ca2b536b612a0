#include "trainer/checkpoint/testing/memory_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace trainyard {
namespace {

TEST(MemoryFolderTest, IsAFolderToWriteTo) {
  const std::string folder = MemoryFolder() + "/run";
  ASSERT_TRUE(std::filesystem::create_directory(folder));
  std::ofstream(folder + "/file") << "text";
  EXPECT_EQ(std::filesystem::file_size(folder + "/file"), 4);
  EXPECT_EQ(MemoryFolder() + "/run", folder);
}

}  // namespace
}  // namespace trainyard
