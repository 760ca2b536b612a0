#include "trainer/loop/cancellation.h"

#include <atomic>

namespace trainyard {
namespace {

// A signal handler can reach nothing but globals. 0: none came.
volatile std::sig_atomic_t signal_that_came = 0;
std::atomic<bool> watched = false;

void Remember(int signal) {
  signal_that_came = signal;
  // The next one finds the default action, which ends the process.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

Cancellation::Cancellation() : active_(!watched.exchange(true)) {
  if (!active_) return;
  signal_that_came = 0;
  struct sigaction action = {};
  action.sa_handler = Remember;
  // A read that is under way goes on: only the loop acts on the flag.
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

Cancellation::~Cancellation() {
  if (!active_) return;
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
  watched = false;
}

bool Cancellation::requested() const {
  return active_ && signal_that_came != 0;
}

std::string Cancellation::signal_name() const {
  if (!requested()) return "";
  return signal_that_came == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace trainyard
