// More than 11,000 damaged checkpoints: each is rejected with an error that
// names one of its files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <random>

#include "trainer/checkpoint/store.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"
#include "trainer/io/input_file.h"
#include "trainer/io/testing/memory_file_system.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using Files = std::map<std::string, std::string>;

constexpr char kFolder[] = "/run/step-0000000003/";

// The files of a new checkpoint of step 3, with the values of another step.
Files Save(int64_t values, FileSystem& files) {
  Checkpoint checkpoint = SampleCheckpoint(values);
  checkpoint.step = 3;
  const auto store =
      CheckpointStore::Open({.directory = "/run", .files = &files});
  EXPECT_TRUE((*store)->Save(checkpoint).ok());
  Files saved;
  std::vector<std::string> names;
  EXPECT_EQ(files.List(kFolder, names), 0);
  for (const std::string& name : names) {
    const auto file = InputFile::Open(kFolder + name, files);
    saved[name].resize(file->size());
    EXPECT_TRUE(file->ReadAt(0, saved[name].data(), saved[name].size()).ok());
  }
  return saved;
}

class CorruptionTest : public ::testing::Test {
 protected:
  CorruptionTest() : sound_(Save(3, files_)) {
    store_ = *CheckpointStore::Open(
        {.directory = "/run", .access = Access::kRead, .files = &files_});
    EXPECT_TRUE(store_->Load(3).ok());
  }

  ~CorruptionTest() override {
    EXPECT_TRUE(store_->Load(3).ok());
    std::cout << tried_ << " damaged, " << silent_ << " not noticed\n";
  }

  // Checks that the checkpoint is rejected with this content of the file, and
  // restores the file.
  void ExpectRefused(const std::string& name, const std::string& content,
                     const std::string& how) {
    files_.Put(kFolder + name, content);
    const absl::StatusOr<Restored> loaded = store_->Load(3);
    ++tried_;
    if (loaded.ok()) {
      ++silent_;
      ADD_FAILURE() << how << " of " << name << " was not noticed";
    } else {
      EXPECT_THAT(std::string(loaded.status().message()), HasSubstr(kFolder))
          << how;
    }
    files_.Put(kFolder + name, sound_[name]);
  }

  // A random byte of the checkpoint, with equal probability.
  std::pair<std::string, size_t> RandomByte() {
    size_t total = 0;
    for (const auto& [name, content] : sound_) total += content.size();
    size_t at = random_() % total;
    for (const auto& [name, content] : sound_) {
      if (at < content.size()) return {name, at};
      at -= content.size();
    }
    return {};
  }

  MemoryFileSystem files_;
  Files sound_;
  std::unique_ptr<CheckpointStore> store_;
  std::mt19937_64 random_{1};
  int tried_ = 0;
  int silent_ = 0;
};

TEST_F(CorruptionTest, TenThousandSingleBits) {
  for (int i = 0; i < 10'000; ++i) {
    const auto [name, at] = RandomByte();
    std::string content = sound_[name];
    content[at] = static_cast<char>(content[at] ^ (1 << (random_() % 8)));
    ExpectRefused(name, content, "bit " + std::to_string(at));
  }
}

TEST_F(CorruptionTest, AThousandBursts) {
  for (int i = 0; i < 1000; ++i) {
    const auto [name, at] = RandomByte();
    std::string content = sound_[name];
    // 2 to 64 bits; the first and the last are inverted.
    const uint64_t bits = 2 + random_() % 63;
    const uint64_t first = 8 * at + random_() % 8;
    for (uint64_t bit = 0; bit < bits; ++bit) {
      const uint64_t place = (first + bit) / 8;
      if (place >= content.size()) break;
      if (bit != 0 && bit != bits - 1 && random_() % 2 == 0) continue;
      content[place] =
          static_cast<char>(content[place] ^ (1 << ((first + bit) % 8)));
    }
    ExpectRefused(name, content, "burst at " + std::to_string(at));
  }
}

TEST_F(CorruptionTest, EveryFileCutAtEveryByte) {
  for (const auto& [name, content] : Files(sound_)) {
    for (size_t size = 0; size < content.size(); ++size) {
      ExpectRefused(name, content.substr(0, size),
                    "cut at " + std::to_string(size));
    }
    ExpectRefused(name, content + '\0', "a byte more");
    ExpectRefused(name, std::string(content.size(), '\0'), "zeroing");
  }
}

TEST_F(CorruptionTest, FilesOfAnotherSaveAndOfEachOther) {
  MemoryFileSystem elsewhere;
  const Files other_values = Save(4, elsewhere);
  const Files same_values = Save(3, elsewhere);
  for (const Files& foreign : {other_values, same_values}) {
    for (const auto& [name, content] : foreign) {
      ExpectRefused(name, content, "one of another save");
    }
  }
  for (const auto& [name, content] : Files(sound_)) {
    for (const auto& [other, bytes] : sound_) {
      if (other != name) ExpectRefused(name, bytes, "the content of " + other);
    }
  }
}

TEST(CorruptionOnDiskTest, MissingFilesLinksAndFolders) {
  const std::string run = TestFolder();
  const auto store = CheckpointStore::Open({.directory = run});
  ASSERT_TRUE((*store)->Save(SampleCheckpoint(3)).ok());
  const std::string step = run + "/step-0000000003/";
  const std::string elsewhere = run + "/elsewhere";
  for (const std::string& name : NamesIn(step)) {
    const std::string path = step + name;
    std::filesystem::rename(path, elsewhere);
    EXPECT_FALSE((*store)->Load(3).ok()) << name << " is missing";
    std::filesystem::create_symlink(elsewhere, path);
    EXPECT_FALSE((*store)->Load(3).ok()) << name << " is a link";
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    EXPECT_FALSE((*store)->Load(3).ok()) << name << " is a folder";
    std::filesystem::remove(path);
    std::filesystem::rename(elsewhere, path);
    EXPECT_TRUE((*store)->Load(3).ok());
  }
}

}  // namespace
}  // namespace trainyard
