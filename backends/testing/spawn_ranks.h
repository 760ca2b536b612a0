// SpawnRanks turns a test into one of several processes: each rank is a copy of
// the test's process that goes on with the same test, with the variables that a
// launcher sets. If the process has other threads by then, which a copy would
// lack, its program is started again instead.
//
//   TEST(SumTest, AddsOverRanks) {
//     if (SpawnRanks(2)) return;                // not a rank itself
//     ProcessGroup group({.rendezvous = RendezvousFromEnvironment()});
//     …
//   }
//
// A program that a launcher has started is a rank already: then nothing is
// spawned.
#ifndef TRAINYARD_BACKENDS_TESTING_SPAWN_RANKS_H_
#define TRAINYARD_BACKENDS_TESTING_SPAWN_RANKS_H_

#include <string>
#include <vector>

namespace trainyard {

struct RankEnding {
  // Of exit, or 128 and the signal.
  int code = 0;
  // What it printed, on both streams.
  std::string output;
};

// False in a rank. In the test itself: runs the ranks to their end, fails the
// test with the output of those that failed, and returns true. `filter`: which
// tests they run, if not this one.
bool SpawnRanks(int count, const std::string& filter = "");

// Whether this process is a rank.
bool IsRank();

// Starts the program for each rank and returns how they ended. Those in
// `absent` are not started.
std::vector<RankEnding> RunRanks(int count, const std::string& filter = "",
                                 const std::vector<int>& absent = {});

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_TESTING_SPAWN_RANKS_H_
