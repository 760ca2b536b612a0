// WithRunFlags adds a flag for every option of a run to a program, so that a
// run is described completely by its command line or by a file (parse_flags.h).
//
//   const TrainOptions options = WithRunFlags({.length = Epochs(5)});
//   // --length="2 epochs" --grad_accum_steps=4
//
// A flag that is not given leaves the option as the program set it. Data,
// functions and objects are the program's; its own flags should have other
// names. Lengths are written "5 epochs" or "100 updates", periods also "at
// epochs 1,5" and "never", schedules as for //tools/inspect:schedule:
// "cosine --warmup_epochs=0.5".
//
// Call it in main, after ParseFlags.
#ifndef TRAINYARD_TOOLS_CLI_RUN_FLAGS_H_
#define TRAINYARD_TOOLS_CLI_RUN_FLAGS_H_

#include <string>

#include "trainer/train_options.h"
#include "trainer/train_unit.h"

namespace trainyard {

// Throws std::invalid_argument, naming the flag and its value, for a value that
// is not of the form above; c10::ValueError for a clip that is no number above
// 0. The trainer checks the rest.
TrainOptions WithRunFlags(TrainOptions options);

// "5 epochs", "1 update", "100 batches", "30 seconds". `flag` is for messages.
Duration ParseDuration(const std::string& flag, const std::string& text);

// "2 epochs" or "every 2 epochs", "at batches 1,5,10", "never".
Period ParsePeriod(const std::string& flag, const std::string& text);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_CLI_RUN_FLAGS_H_
