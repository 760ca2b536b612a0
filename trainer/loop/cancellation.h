// Cancellation tells a loop that it must save and end soon: because a signal
// came, or because the scheduler will end the job. The loop asks between steps;
// nothing happens inside the signal handler but a note.
//
//   const Cancellation cancellation;
//   while (!cancellation.requested()) { … }
//
// A second SIGINT ends the process at once, as Ctrl-C does; further signals of
// other kinds, of which schedulers send several, change nothing. The handlers
// that were there before come back at its end. One object at a time in a
// process: a second one is inactive. Thread-compatible.
#ifndef TRAINYARD_TRAINER_LOOP_CANCELLATION_H_
#define TRAINYARD_TRAINER_LOOP_CANCELLATION_H_

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

struct CancellationOptions {
  using Time = std::chrono::system_clock::time_point;

  // The signals that ask for the end.
  std::vector<int> signals = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
  // The signals that ask for a checkpoint, after which the run goes on, also if
  // they are in `signals`.
  std::vector<int> save_signals = {};
  // When the scheduler will end the job. Unset: not known.
  std::optional<Time> job_end = std::nullopt;
  // How long before that the run ends. Never more than a tenth of the time that
  // is left when the run starts. REQUIRES: >= 0.
  std::chrono::duration<double> margin = std::chrono::seconds(60);
};

// The options with what the environment says:
//
//   TRAINYARD_STOP_SIGNALS     "SIGTERM,SIGUSR1": these and no others; empty:
//                              none
//   TRAINYARD_SAVE_SIGNALS     the same for save_signals
//   TRAINYARD_JOB_END_TIME     in seconds since 1970, or
//   SLURM_JOB_END_TIME         the same, which Slurm sets from version 23.02 on
//   TRAINYARD_JOB_END_MARGIN   in seconds
//
// Throws std::invalid_argument with the variable and its value.
CancellationOptions CancellationFromEnvironment(
    CancellationOptions options = {});
CancellationOptions CancellationFromEnvironment(
    CancellationOptions options,
    const std::function<std::optional<std::string>(const char*)>& environment);

// For the rest of the process, the signals of these options no longer end it by
// themselves: one that comes before a Cancellation is requested of that one,
// one that comes after the last changes nothing. SIGINT and SIGTERM still end a
// program that has not started its loop, and signals that have a handler keep
// it. For main functions.
void RememberSignals(const CancellationOptions& options);

class Cancellation {
 public:
  // Throws std::invalid_argument with the signal for one that no program can
  // handle.
  explicit Cancellation(const CancellationOptions& options = {});
  ~Cancellation();

  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  bool requested() const;
  // "SIGTERM", or "the job ends at 2026-01-31 12:00:00 UTC"; empty unless
  // requested.
  std::string reason() const;

  // Whether a checkpoint was asked for since the last Take; that clears it.
  bool save_requested() const;
  bool TakeSaveRequest();

 private:
  bool active_;
  std::vector<std::pair<int, struct sigaction>> old_;
  std::optional<CancellationOptions::Time> job_end_;
  CancellationOptions::Time deadline_ = CancellationOptions::Time::max();
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_CANCELLATION_H_
