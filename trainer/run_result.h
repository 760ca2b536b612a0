// RunResult is what Trainer::Train returns: how a run ended and how far it got.
//
//   const RunResult result = trainer.Train(options);
//   if (result.ending == RunEnding::kStopped) Print(result.message);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_RUN_RESULT_H_
#define TRAINYARD_TRAINER_RUN_RESULT_H_

#include <cstdint>
#include <string>

#include "trainer/events.h"
#include "trainer/run_clock.h"

namespace trainyard {

struct RunResult {
  RunEnding ending = RunEnding::kFinished;
  // The reason of a stop or a signal; otherwise empty, or what else there is to
  // say.
  std::string message = {};
  // How far the run is, earlier parts of a resumed run included.
  RunClock clock = RunClock();
  // The samples, seconds and seconds without evaluation of this call of Train
  // alone.
  int64_t samples = 0;
  double seconds = 0;
  double train_seconds = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_RUN_RESULT_H_
