#include "trainer/checkpoint/folder/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "trainer/checkpoint/folder/step_names.h"
#include "trainer/checkpoint/format/manifest.h"
#include "trainer/checkpoint/format/step_writer.h"
#include "trainer/io/testing/file_system_wrapper.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

namespace fs = std::filesystem;

class RunFolderTest : public ::testing::Test {
 protected:
  RunFolderTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  RunFolder Open() {
    auto run = RunFolder::Open(folder_, Access::kWrite);
    EXPECT_TRUE(run.ok()) << run.status();
    return *std::move(run);
  }

  // A folder of that name with a file in it.
  void Plant(const std::string& name) {
    fs::create_directory(folder_ + "/" + name);
    std::ofstream(folder_ + "/" + name + "/model.safetensors") << "half";
  }

  std::string folder_ =
      ::testing::TempDir() + "/" +
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

// The pid of a process that has just ended.
int64_t EndedProcess() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(StepNamesTest, ParseInvertsFormat) {
  EXPECT_EQ(StepName(7), "step-0000000007");
  EXPECT_THAT(StepOfName(StepName(INT64_MAX)), Optional(INT64_MAX));
  for (const char* name :
       {"step-", "step-7", "step-00000000007", "step--000000007",
        "step-000000000x", "Step-0000000007", "step-0000000007 ",
        "xstep-0000000007"}) {
    EXPECT_EQ(StepOfName(name), std::nullopt) << name;
  }
  const WriterId self = ThisWriter();
  const auto writer = WriterOfName(TemporaryName(7, self, HexOf(NewUuid())));
  ASSERT_TRUE(writer.has_value());
  EXPECT_EQ(writer->host, self.host);
  EXPECT_EQ(writer->boot, self.boot);
  EXPECT_EQ(writer->pid, getpid());
  EXPECT_TRUE(IsTrashName(TrashName(HexOf(NewUuid()))));
  EXPECT_FALSE(HasEnded(self, self));
  EXPECT_TRUE(HasEnded({self.host, "00000000", 1}, self)) << "started anew";
  EXPECT_FALSE(HasEnded({"00000000", self.boot, 1}, self)) << "cannot tell";
}

TEST_F(RunFolderTest, OpenDeletesLeftoversOfCrashedWritersOnly) {
  const WriterId self = ThisWriter();
  WriterId dead = self;
  dead.pid = EndedProcess();
  WriterId living = self;
  living.pid = getppid();
  for (int i = 0; i < 50; ++i) {
    Plant(TemporaryName(i, dead, HexOf(NewUuid())));
    Plant(TrashName(HexOf(NewUuid())));
  }
  Plant(TemporaryName(1, {self.host, "00000000", 1}, HexOf(NewUuid())));
  const std::string lives = TemporaryName(1, living, HexOf(NewUuid()));
  const std::string abroad =
      TemporaryName(1, {"00000000", self.boot, 1}, HexOf(NewUuid()));
  // Names that no version of the store uses.
  const std::string foreign[] = {".tmp-step-0000000001", ".tmp-mine", "notes",
                                 ".trash-"};
  Plant(lives);
  Plant(abroad);
  for (const std::string& name : foreign) Plant(name);
  const std::string victim = folder_ + "-victim";
  fs::create_directory(victim);
  std::ofstream(victim + "/file") << "precious";
  fs::create_directory_symlink(
      victim, folder_ + "/" + TemporaryName(2, dead, HexOf(NewUuid())));
  const RunFolder run = Open();
  EXPECT_TRUE(fs::exists(victim + "/file"));
  EXPECT_EQ(Names().size(), 1 + 2 + 4 + 1U) << "lock, two, foreign, link";
  EXPECT_TRUE(fs::exists(folder_ + "/" + lives));
  EXPECT_TRUE(fs::exists(folder_ + "/" + abroad));
  for (const std::string& name : foreign) {
    EXPECT_TRUE(fs::exists(folder_ + "/" + name + "/model.safetensors"));
  }
}

TEST_F(RunFolderTest, AReaderChangesNothing) {
  WriterId dead = ThisWriter();
  dead.pid = EndedProcess();
  Plant(TemporaryName(1, dead, HexOf(NewUuid())));
  auto run = RunFolder::Open(folder_, Access::kRead);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_TRUE(run->List()->steps.empty());
  EXPECT_EQ(Names().size(), 1U);
  auto missing = RunFolder::Open(folder_ + "/missing", Access::kRead);
  EXPECT_TRUE(missing->List()->steps.empty());
  EXPECT_FALSE(fs::exists(folder_ + "/missing"));
}

TEST_F(RunFolderTest, CommitQuarantinesAFolderWithoutManifest) {
  RunFolder run = Open();
  Plant("step-0000000004");
  const auto listing = run.List();
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_TRUE(listing->steps.empty());
  ASSERT_EQ(listing->bad.size(), 1U);
  EXPECT_TRUE(absl::IsNotFound(listing->bad.begin()->second));

  const auto folder = run.Begin(4, 100);
  ASSERT_TRUE(folder.ok()) << folder.status();
  pb::Manifest manifest;
  manifest.set_format_version(kCheckpointFormat);
  manifest.set_min_reader_version(kCheckpointFormat);
  manifest.set_run_uuid(NewUuid());
  manifest.set_save_uuid(NewUuid());
  manifest.set_world_size(1);
  manifest.set_step(4);
  ASSERT_TRUE(
      StepWriter(*folder, manifest.save_uuid()).WriteManifest(manifest).ok());
  ASSERT_TRUE(run.Commit(*folder, 4).ok());
  EXPECT_EQ(run.List()->steps.size(), 1U);
  EXPECT_THAT(Names(), ElementsAre("LOCK", "quarantine", "step-0000000004"));
}

TEST_F(RunFolderTest, PermissionErrorsNameTheOwner) {
  class Denied final : public FileSystemWrapper {
   public:
    using FileSystemWrapper::FileSystemWrapper;
    int Open(const std::string&, int) override { return -EACCES; }
  };
  Denied files(RealFileSystem());
  fs::permissions(folder_, fs::perms(0755));
  const absl::Status status =
      RunFolder::Open(folder_, Access::kWrite, files).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(folder_ + " belongs to user " +
                        std::to_string(geteuid()) + ", with mode 755"));
}

TEST_F(RunFolderTest, AFileInPlaceOfTheFolderIsAnError) {
  std::ofstream(folder_ + "/file") << "x";
  const absl::Status status =
      RunFolder::Open(folder_ + "/file/run", Access::kWrite).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder_ + "/file"));
  EXPECT_TRUE(
      absl::IsInvalidArgument(RunFolder::Open("", Access::kWrite).status()));
}

}  // namespace
}  // namespace trainyard
