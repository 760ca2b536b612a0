// Counts threads that are alive, for tests of what ends its threads: a thread
// takes itself off the count before it can be joined.
//
//   CountThisThread();      // on a worker
//   EXPECT_EQ(LiveThreads(), 0);
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_DATA_TESTING_LIVE_THREADS_H_
#define TRAINYARD_TRAINER_DATA_TESTING_LIVE_THREADS_H_

#include <cstdint>

namespace trainyard {

// Counts the calling thread from now until it ends, once.
void CountThisThread();

// Counted threads that have not ended.
int64_t LiveThreads();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TESTING_LIVE_THREADS_H_
