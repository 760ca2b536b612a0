// PrintProgress prints a line when a run starts, when each epoch starts, and
// when the run ends: for logs without a progress bar.
//
//   trainer.Add(PrintProgress());
//
//   Training on cpu (sp): 5 epochs of 469 batches of 128, 2345 updates
//   Epoch 1/5
//   ...
//   Finished after 5 epochs, 2345 updates, 300k samples in 0:39
//
// With several ranks it prints on local rank 0 of each machine only, unless
// `every_rank` is set.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_PRINTING_PRINT_PROGRESS_H_
#define TRAINYARD_CALLBACKS_PRINTING_PRINT_PROGRESS_H_

#include <cstdio>
#include <string>

#include "callbacks/callback.h"
#include "callbacks/clock.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

struct PrintProgressOptions {
  // Borrowed.
  std::FILE* output = stdout;
  SecondsClock clock = SteadySeconds;
  // Prints on every rank, and not only on local rank 0 of each machine.
  bool every_rank = false;
};

class PrintProgress final : public Callback {
 public:
  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit PrintProgress(PrintProgressOptions options = {});

  void OnRunStart(const RunStart& e, Control&) override;
  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

 private:
  void Print(const std::string& line);

  PrintProgressOptions options_;
  bool prints_ = true;
  double start_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_PRINT_PROGRESS_H_
