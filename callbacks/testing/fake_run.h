// FakeRun plays the events of a run to callbacks, in the loop's order, without
// a model: for tests of callbacks. It has a clock of its own.
//
//   FakeRun run({.num_epochs = 3});
//   run.Add(EarlyStopping({.patience = 1}));
//   EXPECT_EQ(run.Play(), RunEnding::kStopped);
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_TESTING_FAKE_RUN_H_
#define TRAINYARD_CALLBACKS_TESTING_FAKE_RUN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "backends/backend.h"
#include "callbacks/callback_handler.h"
#include "callbacks/clock.h"
#include "tracking/run_history.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/run_clock.h"
#include "trainer/run_config.h"

namespace trainyard {

// One process on the CPU, for tests that fire events themselves.
Backend& FakeBackend();

struct FakeRunOptions {
  int64_t num_epochs = 2;
  int64_t batches_per_epoch = 4;
  int64_t eval_batches = 2;
  // Evaluates within epochs too, after this many batches of one. 0: never.
  int64_t eval_within_epoch_at = 0;
  // Evaluates at the end of every epoch whose number is a multiple of this, and
  // at the end of the run.
  int64_t eval_every_epochs = 1;
  int64_t batch_size = 8;
  int64_t grad_accum_steps = 1;
  // Of a batch, counted from 1 through the whole run.
  std::function<double(int64_t batch)> loss = [](int64_t) { return 0.5; };
  // Of an epoch, counted from 1: what its evaluation measures, and the loss of
  // each of its batches.
  std::function<Metrics(int64_t epoch)> eval = [](int64_t) {
    return Metrics{{"eval_loss", 0.25}};
  };
  // The wait for a batch, and the step itself.
  double data_seconds = 0;
  double step_seconds = 0.5;
  double eval_step_seconds = 0.25;
  // Called in each step, before the gradients are said to be ready.
  std::function<void()> backward = [] {};
  // Throws std::runtime_error in this batch. 0: never.
  int64_t fail_at_batch = 0;
};

class FakeRun {
 public:
  explicit FakeRun(FakeRunOptions options = {});

  template <class T>
  auto& Add(T&& callback, AddOptions options = {}) {
    return handler_.Add(std::forward<T>(callback), std::move(options));
  }

  // A run from its start to its end; kError if a callback threw. The history is
  // that of the last one.
  RunEnding Play();

  // The rest of a run: callbacks have loaded their state, and the clock is at
  // `clock`, whose epoch has no batches yet.
  RunEnding PlayResumed(const RunClock& clock);

  // A run that ends before its first epoch.
  RunEnding PlayNothing(bool resumed = false);

  // An evaluation outside of a run.
  void PlayEvaluation();

  // For options: the time of this run, which must outlive the callback.
  SecondsClock seconds() {
    return [this] { return now_; };
  }

  // Why the last run ended.
  const std::string& message() const { return message_; }
  InMemoryRunHistory& history() { return history_; }
  const RunClock& clock() const { return clock_; }

 private:
  RunEnding PlayFrom(RunClock clock);
  RunClock NewClock();
  RunEnding EndRun(RunEnding ending);
  RunEnding PlayEpochs();
  bool PlayTraining();
  void PlayStep(int64_t batches_left);
  void PlayEvalSteps(const std::string& name, const Metrics& metrics);

  FakeRunOptions options_;
  double now_ = 1000;
  Control control_;
  CallbackHandler handler_{control_};
  InMemoryRunHistory history_;
  RunConfig config_;
  RunClock clock_;
  bool resumed_ = false;
  std::string message_;
  int64_t batch_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_TESTING_FAKE_RUN_H_
