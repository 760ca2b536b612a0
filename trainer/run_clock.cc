#include "trainer/run_clock.h"

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace trainyard {
namespace {

constexpr int64_t kVersion = 1;

void SetProgress(State& state, const std::string& name,
                 const Progress& progress) {
  state.Set(name + "batches", progress.batches);
  state.Set(name + "updates", progress.updates);
  state.Set(name + "samples", progress.samples);
  state.Set(name + "epochs", progress.epochs);
  state.Set(name + "seconds", progress.seconds);
}

Progress GetProgress(const State& state, const std::string& name) {
  return {.batches = state.Get<int64_t>(name + "batches"),
          .updates = state.Get<int64_t>(name + "updates"),
          .samples = state.Get<int64_t>(name + "samples"),
          .epochs = state.Get<int64_t>(name + "epochs"),
          .seconds = state.Get<double>(name + "seconds")};
}

void CheckPositive(const char* option, int64_t value) {
  if (value >= 1) return;
  throw std::invalid_argument(std::string("RunClock: ") + option + " is " +
                              std::to_string(value) +
                              "; it must be at least 1");
}

}  // namespace

RunClock::RunClock(RunClockOptions options)
    : options_(std::move(options)), zero_(Now()) {
  CheckPositive("grad_accum_steps", options_.grad_accum_steps);
  CheckPositive("num_processes", options_.num_processes);
}

double RunClock::Now() const {
  if (options_.seconds) return options_.seconds();
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double RunClock::Elapsed() const { return Now() - zero_; }

Progress RunClock::epoch_progress() const {
  return {.batches = epoch_batches_,
          .updates = progress_.updates - epoch_start_.updates,
          .samples = progress_.samples - epoch_start_.samples,
          .seconds = progress_.seconds - epoch_start_.seconds};
}

void RunClock::StartEpoch() {
  previous_ = progress_;
  epoch_start_ = progress_;
  epoch_batches_ = 0;
}

void RunClock::CountBatch(int64_t samples) {
  ++epoch_batches_;
  ++progress_.batches;
  progress_.samples += samples;
  progress_.seconds = Elapsed();
}

void RunClock::EndEpoch() {
  ++epoch_;
  epoch_batches_ = 0;
}

State RunClock::SaveState() const {
  State state(kVersion);
  SetProgress(state, "progress/", progress_);
  SetProgress(state, "previous/", previous_);
  SetProgress(state, "epoch_start/", epoch_start_);
  state.Set("epoch", epoch_);
  state.Set("epoch_batches", epoch_batches_);
  state.Set("total_batch_size", options_.total_batch_size);
  return state;
}

void RunClock::LoadState(const State& state) {
  state.CheckVersion(kVersion);
  const Progress progress = GetProgress(state, "progress/");
  const Progress previous = GetProgress(state, "previous/");
  const Progress epoch_start = GetProgress(state, "epoch_start/");
  const auto epoch = state.Get<int64_t>("epoch");
  const auto epoch_batches = state.Get<int64_t>("epoch_batches");
  resized_ =
      state.Get<int64_t>("total_batch_size") != options_.total_batch_size;
  progress_ = progress;
  previous_ = previous;
  epoch_start_ = epoch_start;
  epoch_ = epoch;
  epoch_batches_ = epoch_batches;
  zero_ = Now() - progress_.seconds;
}

}  // namespace trainyard
