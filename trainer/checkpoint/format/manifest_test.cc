#include "trainer/checkpoint/format/manifest.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <functional>

#include "trainer/checkpoint/format/frame.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

pb::Manifest Sample() {
  pb::Manifest manifest;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(format_version: 1 min_reader_version: 1 producer: "test"
         run_uuid: "0123456789abcdef" save_uuid: "fedcba9876543210"
         step: 7 world_size: 2
         files { name: "model-1.safetensors" size: 24 kind: TENSORS
                 group: "model" rank: 1
                 tensors { name: "a" offset: 16 size: 8 }
                 tensors { name: "b" offset: 24 size: 0 } }
         files { name: "state-r00000.pb" size: 3 kind: STATES }
         metrics { key: "loss" value: 0.5 })",
      &manifest));
  return manifest;
}

TEST(ManifestTest, ParseInvertsFormat) {
  const auto file = FormatManifest(Sample());
  ASSERT_TRUE(file.ok()) << file.status();
  const auto read = ParseManifest(*file);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->DebugString(), Sample().DebugString());
}

TEST(ManifestTest, RejectsANewerFormatUnlessItIsCompatible) {
  pb::Manifest manifest = Sample();
  manifest.set_format_version(4);
  // Fields that a later version adds are ignored.
  manifest.GetReflection()->MutableUnknownFields(&manifest)->AddVarint(99, 1);
  EXPECT_TRUE(
      ParseManifest(Framed(kManifestMagic, manifest.SerializeAsString())).ok());
  manifest.set_min_reader_version(3);
  const absl::Status newer =
      ParseManifest(Framed(kManifestMagic, manifest.SerializeAsString()))
          .status();
  EXPECT_TRUE(absl::IsFailedPrecondition(newer)) << newer;
  EXPECT_THAT(std::string(newer.message()),
              HasSubstr("written in format 4 by \"test\"; this program reads "
                        "up to format 2"));
}

struct Case {
  std::string name;
  std::function<void(pb::Manifest&)> change;
  std::string message;
};

class ManifestCaseTest : public ::testing::TestWithParam<Case> {};

TEST_P(ManifestCaseTest, IsRejected) {
  pb::Manifest manifest = Sample();
  GetParam().change(manifest);
  const absl::Status read =
      ParseManifest(Framed(kManifestMagic, manifest.SerializeAsString()))
          .status();
  EXPECT_TRUE(absl::IsDataLoss(read)) << read;
  EXPECT_THAT(std::string(read.message()), HasSubstr(GetParam().message));
  EXPECT_TRUE(absl::IsInvalidArgument(FormatManifest(manifest).status()));
}

INSTANTIATE_TEST_SUITE_P(
    Contradictions, ManifestCaseTest,
    ::testing::Values(
        Case{"NoVersion", [](pb::Manifest& m) { m.clear_format_version(); },
             "no version"},
        Case{"ShortUuid", [](pb::Manifest& m) { m.set_save_uuid("x"); },
             "no valid run_uuid or save_uuid"},
        Case{"NoRanks", [](pb::Manifest& m) { m.set_world_size(0); },
             "has world_size 0"},
        Case{"NegativeStep", [](pb::Manifest& m) { m.set_step(~uint64_t{0}); },
             "has a counter that is too large"},
        Case{"FileTwice", [](pb::Manifest& m) { *m.add_files() = m.files(1); },
             "\"state-r00000.pb\" twice"},
        Case{"ForeignRank",
             [](pb::Manifest& m) { m.mutable_files(0)->set_rank(2); },
             "rank 2 of 2"},
        Case{"TensorTwice",
             [](pb::Manifest& m) {
               m.mutable_files(0)->mutable_tensors(1)->set_name("a");
             },
             "tensor \"a\""},
        Case{"TensorPastTheEnd",
             [](pb::Manifest& m) {
               m.mutable_files(0)->mutable_tensors(0)->set_size(~uint64_t{0} -
                                                                8);
             },
             "has a wrong position of tensor \"a\""},
        Case{"Hole",
             [](pb::Manifest& m) {
               m.mutable_files(0)->mutable_tensors(0)->set_size(7);
             },
             "has a wrong position of tensor \"b\""},
        Case{"BytesOfNoTensor",
             [](pb::Manifest& m) { m.mutable_files(0)->set_size(25); },
             "belong to no tensor"},
        Case{"TensorsInState",
             [](pb::Manifest& m) { m.mutable_files(1)->add_tensors(); },
             "has tensors in"},
        Case{"NoUtf8",
             [](pb::Manifest& m) {
               m.mutable_files(0)->mutable_tensors(0)->set_name("\xFF");
             },
             ""}),
    [](const auto& test) { return test.param.name; });

TEST(ManifestTest, FileNamesCannotReferToAnotherFolder) {
  for (const char* name :
       {"manifest.pb", "", ".", "..", "../x", "a/b", "/etc/passwd", ".hidden",
        "-x", "a b", "a\nb", "a\\b", "\xC3\xA4", "a\x1b[2J"}) {
    pb::Manifest manifest = Sample();
    manifest.mutable_files(0)->set_name(name);
    EXPECT_FALSE(FormatManifest(manifest).ok()) << name;
  }
  EXPECT_FALSE(IsFileName(std::string(256, 'a')));
  EXPECT_TRUE(IsFileName(std::string(255, 'a')));
  EXPECT_TRUE(IsFileName("a..b"));
}

TEST(ManifestTest, RejectsManyEmptyEntriesBeforeTheyNeedMemory) {
  std::string message;
  // Field 12, of length 0.
  for (int i = 0; i <= kMaxCheckpointFiles; ++i)
    message += std::string("\x62\0", 2);
  EXPECT_THAT(
      std::string(
          ParseManifest(Framed(kManifestMagic, message)).status().message()),
      HasSubstr("has 100001 files"));
}

}  // namespace
}  // namespace trainyard
