// FakeRun fires the events of a run without a model, for tests of callbacks.
// The order and the counts are those of the real loop
// (fake_run_parity_test.cc). The seconds are simulated.
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
#include <optional>
#include <string>
#include <utility>

#include "callbacks/callback_handler.h"
#include "callbacks/clock.h"
#include "tracking/run_history.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/run_clock.h"
#include "trainer/run_config.h"

namespace trainyard {

class Backend;

// One process on the CPU, for tests that fire events themselves.
Backend& FakeBackend();

struct FakeRunOptions {
  int64_t num_epochs = 2;
  int64_t batches_per_epoch = 4;
  int64_t eval_batches = 2;
  // Also evaluates within epochs, after this many batches of each.
  std::optional<int64_t> eval_within_epoch_at = std::nullopt;
  // Evaluates at the end of every epoch whose number is a multiple of this, and
  // at the end of the run.
  int64_t eval_every_epochs = 1;
  // Also evaluates before the first batch of a new run.
  bool evaluate_at_start = false;
  int64_t batch_size = 8;
  int64_t grad_accum_steps = 1;
  // The loss of a batch. Batches count from 1 over the whole run.
  std::function<double(int64_t batch)> loss = [](int64_t) { return 0.5; };
  // The metrics of an evaluation, and with "eval_loss" the loss of each of its
  // batches. Epochs count from 1; 0 is the evaluation at the start.
  std::function<Metrics(int64_t epoch)> eval = [](int64_t) {
    return Metrics{{"eval_loss", 0.25}};
  };
  // Duration of the wait for a batch, and of a step.
  double data_seconds = 0;
  double step_seconds = 0.5;
  double eval_step_seconds = 0.25;
  // Called in each step before GradientsReady.
  std::function<void()> backward = [] {};
  // Throws std::runtime_error in this batch.
  std::optional<int64_t> fail_at_batch = std::nullopt;
};

class FakeRun {
 public:
  explicit FakeRun(FakeRunOptions options = {});

  template <class T>
  auto& Add(T&& callback, AddOptions options = {}) {
    return handler_.Add(std::forward<T>(callback), std::move(options));
  }

  CallbackHandler& callbacks() { return handler_; }

  // A run from start to end. Returns kError if a callback threw.
  RunEnding Play();

  // The rest of a run that was stopped between two epochs, at `clock`. The test
  // loads the state of callbacks before.
  RunEnding PlayResumed(const RunClock& clock);

  // A run that ends before its first epoch. If it is resumed, the test loads
  // the state of callbacks before.
  RunEnding PlayNothing(bool resumed = false);

  // An evaluation outside of a run.
  void PlayEvaluation();

  // The simulated time, for options of callbacks. The run must outlive them.
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
  // Returns whether the epoch was completed.
  bool PlayEpoch();
  // What is due after the last batch. Returns whether the run ends here.
  bool PlayDueActions();
  RunEnding EndEarly();
  void PlayEvaluationOfRun(int64_t epoch);
  void PlayReport();
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
  // The batches at which the last evaluation and report were.
  std::optional<int64_t> evaluated_at_;
  std::optional<int64_t> reported_at_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_TESTING_FAKE_RUN_H_
