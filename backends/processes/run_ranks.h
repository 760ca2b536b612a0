// RunRanks runs several ranks in this process, for a debugger: one breakpoint
// stops in every rank, and all of them can be inspected.
//
//   RunRanks(2, [&](const Rendezvous& rendezvous) {
//     const auto backend = MakeBackend("ddp", {.rendezvous = rendezvous});
//     Train(*backend);
//   });
//
// Each rank is a thread with its own process group over loopback. The ranks
// share what belongs to a process: the default random generators, SIGINT and
// SIGTERM, the number of threads of libtorch, and everything that `rank`
// captures. So a run with dropout draws other random numbers than one of
// separate processes, and a crash ends all ranks. Use tools/launch to train.
#ifndef TRAINYARD_BACKENDS_PROCESSES_RUN_RANKS_H_
#define TRAINYARD_BACKENDS_PROCESSES_RUN_RANKS_H_

#include <cstdint>
#include <functional>

#include "backends/processes/rendezvous.h"

namespace trainyard {

// Calls `rank` for each of `count` ranks at once, and returns when all calls
// have returned. If calls throw, the exception that came first is rethrown
// then: the other ranks lose their connection and fail as well. Throws
// c10::ValueError if `count` is below 1.
void RunRanks(int64_t count,
              const std::function<void(const Rendezvous&)>& rank);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_RUN_RANKS_H_
