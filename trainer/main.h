// Main is the last frame of a program: it runs the function and turns whatever
// it throws into one line on standard error and an exit code. SIGUSR1 and
// SIGUSR2, which schedulers send before the time is over, do not end it while
// it starts and ends: see RememberSignals. Beside other programs the function
// shares the cores: see ShareCores (trainer/cores/share_cores.h).
//
//   int main(int argc, char** argv) {
//     return Main([&] {
//       …
//       return ExitCode(result.ending);
//     });
//   }
//
#ifndef TRAINYARD_TRAINER_MAIN_H_
#define TRAINYARD_TRAINER_MAIN_H_

#include <functional>

#include "trainer/events.h"

namespace trainyard {

// What the program returned, or 1 after an error.
int Main(const std::function<int()>& program);

// 0 for a run that finished or was stopped by a callback; CancelledExitCode(),
// 3 unless set otherwise, for one that a signal or the end of its job
// cancelled, so that a script can start it again; 1 for an error.
int ExitCode(RunEnding ending);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MAIN_H_
