#include "backends/processes/shared_segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(SharedSegmentTest, AnotherProcessSeesWhatOneWrites) {
  const auto mine = SharedSegment::Create(1 << 20);
  const std::string address = mine->address();
  const pid_t child = fork();
  if (child == 0) {
    const auto same = SharedSegment::Open(address, 1 << 20);
    std::strcpy(reinterpret_cast<char*>(same->data()), "written by the child");
    _exit(same->size() == 1 << 20 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_STREQ(reinterpret_cast<const char*>(mine->data()),
               "written by the child");
}

// The line of /proc/self/maps that has the address.
std::string MappingOf(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    char* end = nullptr;
    const uintptr_t first = std::strtoull(line.c_str(), &end, 16);
    const uintptr_t last = std::strtoull(end + 1, nullptr, 16);
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (first <= at && at < last) return line;
  }
  return "";
}

// The system frees it with the last process that maps it, however that ends.
TEST(SharedSegmentTest, AKilledProcessLeavesNothingBehind) {
  int addresses[2];
  ASSERT_EQ(pipe(addresses), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto own = SharedSegment::Create(1 << 20);
    std::strcpy(reinterpret_cast<char*>(own->data()), "of the child");
    const std::string& address = own->address();
    if (write(addresses[1], address.data(), address.size()) < 0) _exit(1);
    while (true) pause();
  }
  std::string address(256, ' ');
  const ssize_t length = read(addresses[0], address.data(), address.size());
  ASSERT_GT(length, 0);
  address.resize(static_cast<size_t>(length));
  const auto same = SharedSegment::Open(address, 1 << 20);
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  // The others can go on, and no file or name remains.
  EXPECT_STREQ(reinterpret_cast<const char*>(same->data()), "of the child");
  EXPECT_THAT(MappingOf(same->data()), EndsWith(" (deleted)"));
  EXPECT_THROW(SharedSegment::Open(address, 1 << 20), std::system_error);
  close(addresses[0]);
  close(addresses[1]);
}

TEST(SharedSegmentTest, IsZeroAtFirst) {
  const auto segment = SharedSegment::Create(10000);
  for (size_t i = 0; i < segment->size(); ++i) {
    ASSERT_EQ(segment->data()[i], std::byte{0}) << i;
  }
}

TEST(SharedSegmentTest, CannotBeOpenedOnceItsFileIsClosed) {
  const auto segment = SharedSegment::Create(4096);
  const std::string address = segment->address();
  segment->CloseFile();
  EXPECT_EQ(segment->address(), "");
  EXPECT_THROW(SharedSegment::Open(address, 4096), std::system_error);
  segment->data()[4095] = std::byte{1};  // the mapping stays
}

// A number of a descriptor is soon used for another file.
TEST(SharedSegmentTest, RejectsTheAddressOfAnotherSegment) {
  const auto first = SharedSegment::Create(4096);
  const std::string old = first->address();
  first->CloseFile();
  const auto second = SharedSegment::Create(4096);
  ASSERT_EQ(second->address().substr(32), old.substr(32));
  EXPECT_THAT(
      ErrorOf<std::invalid_argument>([&] { SharedSegment::Open(old, 4096); }),
      HasSubstr("is another segment"));
  EXPECT_THAT(ErrorOf<std::invalid_argument>(
                  [&] { SharedSegment::Open(second->address(), 8192); }),
              HasSubstr("has 8192 bytes, not 12288"));
  EXPECT_THAT(
      ErrorOf<std::invalid_argument>([&] { SharedSegment::Open("x", 1); }),
      HasSubstr("\"x\" is not the address"));
}

}  // namespace
}  // namespace trainyard
