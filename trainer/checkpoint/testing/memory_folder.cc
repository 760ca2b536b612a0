#include "trainer/checkpoint/testing/memory_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

namespace trainyard {
namespace {

// All ranks have the same parent process.
bool IsRank() { return std::getenv("RANK") != nullptr; }

class Folder {
 public:
  Folder() {
    const std::string usual = ::testing::TempDir();
    path_ = usual + "/memory";
    if (access("/dev/shm", W_OK) == 0) {
      path_ = "/dev/shm/trainyard-test-" +
              std::to_string(IsRank() ? getppid() : getpid()) + "-" +
              std::to_string(std::hash<std::string>()(usual));
    }
    // Pids are reused in a sandbox, so a crashed test may have left files here.
    // A rank must not delete them: another rank may already use the folder.
    if (!IsRank()) std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    if (IsRank() && std::string(std::getenv("RANK")) != "0") return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

const std::string& MemoryFolder() {
  static const Folder folder;
  return folder.path();
}

}  // namespace trainyard
