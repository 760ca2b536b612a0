// RunClock counts how far a run is: batches, updates, samples, epochs and
// seconds, since the start of the run and in the current epoch. It is the only
// place that counts them; every event carries it.
//
//   RunClock clock({.grad_accum_steps = 4});
//   clock.StartEpoch();
//   clock.StartBatch();
//   if (clock.EndsWindow(/*last_batch=*/false)) clock.CountUpdate();
//   clock.CountBatch(/*samples=*/32);
//   if (Every(Batches(100)).Due(clock.previous(), clock.progress())) Report();
//
// The counts of a resumed run include its earlier parts.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_RUN_CLOCK_H_
#define TRAINYARD_TRAINER_RUN_CLOCK_H_

#include <cstdint>
#include <functional>

#include "trainer/state.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct RunClockOptions {
  // Batches per update. REQUIRES: >= 1.
  int64_t grad_accum_steps = 1;
  // Ranks that train together. REQUIRES: >= 1.
  int64_t num_processes = 1;
  // Samples per update over all ranks, for `resized`.
  int64_t total_batch_size = 0;
  // Seconds since a fixed moment. Unset: the computer's steady clock. Tests
  // pass their own.
  std::function<double()> seconds = nullptr;
};

class RunClock final : public Stateful {
 public:
  explicit RunClock(RunClockOptions options = {});

  // ---- Since the start of the run.

  const Progress& progress() const { return progress_; }
  // The progress before the last batch. A period is due if one of its points
  // lies between the two.
  const Progress& previous() const { return previous_; }

  int64_t batches() const { return progress_.batches; }
  // Updates that an optimizer applied. A skipped update does not count.
  int64_t updates() const { return progress_.updates; }
  // Samples over all ranks.
  int64_t samples() const { return progress_.samples; }
  // Seconds at the end of the last batch.
  double seconds() const { return progress_.seconds; }
  // Seconds now.
  double Elapsed() const;

  // ---- In the current epoch.

  // Its index, from 0. People are shown epoch() + 1. It rises after OnEpochEnd;
  // progress().epochs rises before the evaluation at the end of the epoch.
  int64_t epoch() const { return epoch_; }
  // The index of the epoch that the last batch belongs to. Differs from epoch()
  // between two epochs.
  int64_t epoch_of_last_batch() const {
    return epoch_batches_ == 0 && epoch_ > 0 ? epoch_ - 1 : epoch_;
  }
  // Batches finished on this rank.
  int64_t epoch_batches() const { return epoch_batches_; }
  // Batches, updates, samples and seconds since the epoch started; 0 epochs.
  Progress epoch_progress() const;

  // ---- Accumulation windows.

  int64_t grad_accum_steps() const { return options_.grad_accum_steps; }
  int64_t num_processes() const { return options_.num_processes; }
  bool StartsWindow() const {
    return epoch_batches_ % options_.grad_accum_steps == 0;
  }
  // Whether the current batch ends an accumulation window. The last batch of an
  // epoch always does, so that no gradient is carried over or lost.
  bool EndsWindow(bool last_batch) const {
    return last_batch || (epoch_batches_ + 1) % options_.grad_accum_steps == 0;
  }

  // ---- Counting, for the loop.

  void StartEpoch();
  void StartBatch() { previous_ = progress_; }
  void CountUpdate() { ++progress_.updates; }
  // Counts the current batch, of `samples` samples over all ranks, as finished.
  void CountBatch(int64_t samples);
  // Replaces the seconds of the last batch, by those that all ranks agreed on.
  void SetSeconds(double seconds) { progress_.seconds = seconds; }
  // All batches of the epoch are done. What is due at its end follows.
  void CountEpoch() { ++progress_.epochs; }
  // The epoch is over.
  void EndEpoch();

  // ---- Checkpoints.

  State SaveState() const override;
  void LoadState(const State& state) override;

  // Whether the loaded state is from a run with another total batch size, so
  // that its epoch has another number of batches.
  bool resized() const { return resized_; }
  // Corrects the batches of the epoch after that.
  void SetEpochBatches(int64_t batches) { epoch_batches_ = batches; }

 private:
  double Now() const;

  RunClockOptions options_;
  // When this process was at 0 seconds of the run.
  double zero_;
  Progress progress_;
  Progress previous_;
  // The progress at the start of the epoch.
  Progress epoch_start_;
  int64_t epoch_ = 0;
  int64_t epoch_batches_ = 0;
  bool resized_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_RUN_CLOCK_H_
