#include "backends/testing/standin/race_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::standin {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RaceDetectorTest : public ::testing::Test {
 protected:
  RaceDetectorTest() { detector_.AddBlock(kBlock, 64, compute_, "empty"); }

  void Use(int stream, bool write, uintptr_t begin = kBlock,
           uintptr_t end = kBlock + 64) {
    detector_.Launch(stream);
    detector_.Access({begin, end, write}, stream, write ? "fill" : "sum");
  }

  static constexpr uintptr_t kBlock = 4096;
  RaceDetector detector_;
  const int compute_ = detector_.AddStream("compute");
  const int copy_ = detector_.AddStream("copy");
};

TEST(RaceDetectorExampleTest, OfTheHeader) {
  const uintptr_t block = 4096;
  RaceDetector detector;
  const int compute = detector.AddStream("compute");
  const int copy = detector.AddStream("copy");
  detector.AddBlock(block, 64, compute, "aten::empty");
  detector.Launch(compute);
  detector.Access({block, block + 64, /*write=*/true}, compute, "aten::fill_");
  detector.StreamWaits(copy, detector.Now(compute));  // without it: an error
  detector.Launch(copy);
  detector.Access({block, block + 64, /*write=*/false}, copy, "copy");
  EXPECT_THAT(detector.TakeErrors(), IsEmpty());
}

TEST_F(RaceDetectorTest, AReaderMustWaitForTheWriter) {
  Use(compute_, true);
  Use(copy_, false);
  EXPECT_THAT(
      detector_.TakeErrors(),
      ElementsAre("race: sum on stream copy reads block 0 (64 bytes, allocated "
                  "by empty), which fill on stream compute writes; the stream "
                  "did not wait for it"));
}

TEST_F(RaceDetectorTest, AWriterMustWaitForReadersAndWriters) {
  Use(compute_, false);
  Use(copy_, true);
  EXPECT_THAT(detector_.TakeErrors(), ElementsAre(HasSubstr("reads; the")));
  Use(compute_, true);
  EXPECT_THAT(detector_.TakeErrors(), ElementsAre(HasSubstr("writes; the")));
}

TEST_F(RaceDetectorTest, ReadersNeedNoOrder) {
  Use(compute_, true);
  detector_.StreamWaits(copy_, detector_.Now(compute_));
  Use(copy_, false);
  Use(compute_, false);
  EXPECT_THAT(detector_.TakeErrors(), IsEmpty());
}

TEST_F(RaceDetectorTest, AnEventCoversOnlyWhatCameBefore) {
  const VectorClock early = detector_.Now(compute_);
  Use(compute_, true);
  detector_.StreamWaits(copy_, early);
  Use(copy_, false);
  EXPECT_THAT(detector_.TakeErrors(), ElementsAre(HasSubstr("race")));
}

TEST_F(RaceDetectorTest, WhatTheHostWaitedForIsOrdered) {
  Use(compute_, true);
  EXPECT_FALSE(detector_.HostKnows(detector_.Now(compute_)));
  detector_.HostWaits(detector_.Now(compute_));
  EXPECT_TRUE(detector_.HostKnows(detector_.Now(compute_)));
  Use(copy_, true);
  EXPECT_THAT(detector_.TakeErrors(), IsEmpty());
}

TEST_F(RaceDetectorTest, OrderIsTransitive) {
  const int third = detector_.AddStream("third");
  Use(compute_, true);
  detector_.StreamWaits(copy_, detector_.Now(compute_));
  detector_.Launch(copy_);
  detector_.StreamWaits(third, detector_.Now(copy_));
  Use(third, true);
  EXPECT_THAT(detector_.TakeErrors(), IsEmpty());
}

TEST_F(RaceDetectorTest, PartsThatDoNotOverlapDoNotConflict) {
  Use(compute_, true, kBlock, kBlock + 32);
  Use(copy_, true, kBlock + 32, kBlock + 64);
  EXPECT_THAT(detector_.TakeErrors(), IsEmpty());
  Use(copy_, true, kBlock + 31, kBlock + 64);
  EXPECT_THAT(detector_.TakeErrors(), ElementsAre(HasSubstr("race")));
}

TEST_F(RaceDetectorTest, AFreedBlockMustNotBeInUseOnAnotherStream) {
  Use(compute_, true);
  detector_.StreamWaits(copy_, detector_.Now(compute_));
  Use(copy_, false);
  detector_.RemoveBlock(kBlock);
  EXPECT_THAT(detector_.TakeErrors(),
              ElementsAre(AllOf(HasSubstr("use after free: block 0"),
                                HasSubstr("sum on stream copy"))));
}

TEST_F(RaceDetectorTest, ABlockMayBeFreedOnceItsStreamComesAfterAllUses) {
  Use(copy_, true);
  detector_.StreamWaits(compute_, detector_.Now(copy_));
  detector_.RemoveBlock(kBlock);
  EXPECT_THAT(detector_.TakeErrors(), IsEmpty());
}

TEST_F(RaceDetectorTest, ARecordedStreamMayStillUseAFreedBlock) {
  Use(copy_, true);
  detector_.RecordStream(kBlock, copy_);
  detector_.RemoveBlock(kBlock);
  EXPECT_THAT(detector_.TakeErrors(), IsEmpty());
}

}  // namespace
}  // namespace trainyard::standin
