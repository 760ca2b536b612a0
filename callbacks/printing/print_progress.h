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
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_PRINTING_PRINT_PROGRESS_H_
#define TRAINYARD_CALLBACKS_PRINTING_PRINT_PROGRESS_H_

#include <cstdio>

#include "callbacks/callback.h"
#include "callbacks/clock.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

struct PrintProgressOptions {
  // Borrowed.
  std::FILE* output = stdout;
  SecondsClock clock = SteadySeconds;
};

class PrintProgress final : public Callback {
 public:
  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit PrintProgress(PrintProgressOptions options = {});

  void OnRunStart(const RunStart& e, Control&) override;
  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

 private:
  PrintProgressOptions options_;
  double start_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_PRINT_PROGRESS_H_
