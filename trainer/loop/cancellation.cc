#include "trainer/loop/cancellation.h"

#include <string.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <system_error>

namespace trainyard {
namespace {

using std::chrono::duration;
using std::chrono::system_clock;

// A signal handler can reach nothing but globals, and runs on any thread of the
// process. 0: none came.
std::atomic<int> signal_that_came = 0;
std::atomic<bool> save_asked = false;
static_assert(std::atomic<int>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);
std::atomic<bool> watched = false;

void Remember(int signal) {
  int none = 0;
  signal_that_came.compare_exchange_strong(none, signal);
  // The next Ctrl-C finds the default action, which ends the process.
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);
}

void RememberToSave(int) { save_asked = true; }

int SignalOf(const char* variable, const std::string& name) {
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* const known = sigabbrev_np(signal);
    if (known != nullptr &&
        (name == known || name == "SIG" + std::string(known))) {
      return signal;
    }
  }
  throw std::invalid_argument(std::string(variable) + " has \"" + name +
                              "\", which is no signal; write for example "
                              "SIGTERM,SIGUSR1");
}

std::vector<int> SignalsOf(const char* variable, const std::string& names) {
  std::vector<int> signals;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    signals.push_back(SignalOf(variable, names.substr(begin, end - begin)));
    begin = end + 1;
  }
  return signals;
}

double SecondsOf(const char* name, const std::string& text) {
  double seconds = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(seconds >= 0 && seconds < 1e12)) {
    throw std::invalid_argument(std::string(name) + " is \"" + text +
                                "\", not a number of seconds");
  }
  return seconds;
}

std::optional<std::string> Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string NameOf(int signal) {
  const char* const name = sigabbrev_np(signal);
  return "SIG" + std::string(name == nullptr ? "?" : name);
}

void CheckSignals(const char* field, const std::vector<int>& signals) {
  for (const int signal : signals) {
    if (signal >= 1 && signal < NSIG && signal != SIGKILL &&
        signal != SIGSTOP) {
      continue;
    }
    throw std::invalid_argument(
        "CancellationOptions: " + std::string(field) + " has " +
        std::to_string(signal) + " (" + NameOf(signal) +
        "), which no program can handle; take another signal");
  }
}

std::string Describe(CancellationOptions::Time time) {
  const std::time_t seconds = system_clock::to_time_t(time);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

}  // namespace

CancellationOptions CancellationFromEnvironment(CancellationOptions options) {
  return CancellationFromEnvironment(std::move(options), Variable);
}

CancellationOptions CancellationFromEnvironment(
    CancellationOptions options,
    const std::function<std::optional<std::string>(const char*)>& environment) {
  for (const auto& [name, signals] :
       {std::pair{"TRAINYARD_STOP_SIGNALS", &options.signals},
        std::pair{"TRAINYARD_SAVE_SIGNALS", &options.save_signals}}) {
    if (const auto names = environment(name)) {
      *signals = SignalsOf(name, *names);
    }
  }
  for (const char* name : {"TRAINYARD_JOB_END_TIME", "SLURM_JOB_END_TIME"}) {
    const auto text = environment(name);
    if (!text || options.job_end) continue;
    options.job_end = CancellationOptions::Time(
        std::chrono::duration_cast<system_clock::duration>(
            duration<double>(SecondsOf(name, *text))));
  }
  if (const auto text = environment("TRAINYARD_JOB_END_MARGIN")) {
    options.margin =
        duration<double>(SecondsOf("TRAINYARD_JOB_END_MARGIN", *text));
  }
  return options;
}

void RememberSignals(const CancellationOptions& options) {
  const auto remember = [](const std::vector<int>& signals, auto handler) {
    for (const int signal : signals) {
      struct sigaction action = {};
      if (signal == SIGINT || signal == SIGTERM ||
          sigaction(signal, nullptr, &action) != 0 ||
          action.sa_handler != SIG_DFL) {
        continue;
      }
      action.sa_handler = handler;
      action.sa_flags = SA_RESTART;
      sigaction(signal, &action, nullptr);
    }
  };
  // A signal in both lists only saves.
  remember(options.save_signals, RememberToSave);
  remember(options.signals, Remember);
}

Cancellation::Cancellation(const CancellationOptions& options)
    : active_(false), job_end_(options.job_end) {
  CheckSignals("signals", options.signals);
  CheckSignals("save_signals", options.save_signals);
  active_ = !watched.exchange(true);
  if (!active_) return;
  if (job_end_) {
    const duration<double> left = *job_end_ - system_clock::now();
    deadline_ =
        *job_end_ - std::chrono::duration_cast<system_clock::duration>(
                        std::min(options.margin, std::max(left, {}) / 10));
  }
  struct sigaction action = {};
  action.sa_handler = Remember;
  // A read that is under way goes on: only the loop acts on the note.
  action.sa_flags = SA_RESTART;
  const auto install = [&](const std::vector<int>& signals) {
    for (const int signal : signals) {
      struct sigaction old = {};
      sigaction(signal, &action, &old);
      old_.emplace_back(signal, old);
    }
  };
  install(options.signals);
  action.sa_handler = RememberToSave;
  install(options.save_signals);
}

Cancellation::~Cancellation() {
  if (!active_) return;
  // The last first: a signal may be there twice.
  for (auto it = old_.rbegin(); it != old_.rend(); ++it) {
    sigaction(it->first, &it->second, nullptr);
  }
  signal_that_came = 0;
  save_asked = false;
  watched = false;
}

bool Cancellation::requested() const {
  return active_ && (signal_that_came != 0 ||
                     (job_end_ && system_clock::now() >= deadline_));
}

std::string Cancellation::reason() const {
  if (!requested()) return "";
  const int signal = signal_that_came;
  if (signal == 0) return "the job ends at " + Describe(*job_end_);
  return NameOf(signal);
}

bool Cancellation::save_requested() const { return active_ && save_asked; }

bool Cancellation::TakeSaveRequest() {
  return active_ && save_asked.exchange(false);
}

}  // namespace trainyard
