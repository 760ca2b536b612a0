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

// A signal handler can reach nothing but globals. 0: none came.
volatile std::sig_atomic_t signal_that_came = 0;
std::atomic<bool> watched = false;

void Remember(int signal) {
  if (signal_that_came == 0) signal_that_came = signal;
  // The next Ctrl-C finds the default action, which ends the process.
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);
}

int SignalOf(const std::string& name) {
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* const known = sigabbrev_np(signal);
    if (known != nullptr &&
        (name == known || name == "SIG" + std::string(known))) {
      return signal;
    }
  }
  throw std::invalid_argument("TRAINYARD_STOP_SIGNALS has \"" + name +
                              "\", which is no signal; write for example "
                              "SIGTERM,SIGUSR1");
}

std::vector<int> SignalsOf(const std::string& names) {
  std::vector<int> signals;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    signals.push_back(SignalOf(names.substr(begin, end - begin)));
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
  if (const auto names = environment("TRAINYARD_STOP_SIGNALS")) {
    options.signals = SignalsOf(*names);
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

Cancellation::Cancellation(const CancellationOptions& options)
    : active_(!watched.exchange(true)), job_end_(options.job_end) {
  if (!active_) return;
  signal_that_came = 0;
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
  for (const int signal : options.signals) {
    struct sigaction old = {};
    sigaction(signal, &action, &old);
    old_.emplace_back(signal, old);
  }
}

Cancellation::~Cancellation() {
  if (!active_) return;
  for (const auto& [signal, old] : old_) sigaction(signal, &old, nullptr);
  watched = false;
}

bool Cancellation::requested() const {
  return active_ && (signal_that_came != 0 ||
                     (job_end_ && system_clock::now() >= deadline_));
}

std::string Cancellation::reason() const {
  if (!requested()) return "";
  if (signal_that_came == 0) return "the job ends at " + Describe(*job_end_);
  const char* const name = sigabbrev_np(signal_that_came);
  return "SIG" + std::string(name == nullptr ? "?" : name);
}

}  // namespace trainyard
