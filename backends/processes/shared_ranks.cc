#include "backends/processes/shared_ranks.h"

#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace trainyard {
namespace {

using Clock = std::chrono::steady_clock;

// Ranks that are in step wait for a few microseconds. Sleeping and waking up
// costs more than that.
constexpr std::chrono::microseconds kSpin(50);
// How often a rank that sleeps looks whether the others are still alive.
constexpr std::chrono::milliseconds kLook(20);

enum State : uint32_t { kHere = 0, kLeft = 1 };

int64_t AvailableCores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

uint32_t* Word(const SharedCounter& counter) {
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
  return const_cast<uint32_t*>(
      reinterpret_cast<const uint32_t*>(&counter.value));
}

// Sleeps while the counter has this value, at most until the next look.
void Sleep(const SharedCounter& counter, uint32_t value) {
  const timespec time = {.tv_sec = 0,
                         .tv_nsec = std::chrono::nanoseconds(kLook).count()};
  syscall(SYS_futex, Word(counter), FUTEX_WAIT, value, &time, nullptr, 0);
}

void WakeAll(const SharedCounter& counter) {
  syscall(SYS_futex, Word(counter), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

int OpenProcess(pid_t pid) {
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

std::string Name(int64_t rank) { return "rank " + std::to_string(rank); }

}  // namespace

struct alignas(64) SharedRanks::Member {
  std::atomic<uint32_t> state;
  std::atomic<int32_t> pid;
  // Ranks that sleep on a counter of this one.
  std::atomic<uint32_t> sleepers;
};

size_t SharedRanks::BytesFor(int64_t size) {
  return static_cast<size_t>(size) * sizeof(Member);
}

SharedRanks::Member& SharedRanks::At(int64_t rank) const {
  // Zeroed memory is a valid Member, in every process that maps it.
  return *std::launder(reinterpret_cast<Member*>(
      segment_->data() + static_cast<size_t>(rank) * sizeof(Member)));
}

SharedRanks::SharedRanks(std::shared_ptr<SharedSegment> segment,
                         const SharedRanksOptions& options)
    : segment_(std::move(segment)),
      options_(options),
      cores_for_all_(options.size <= AvailableCores()) {
  if (options.rank < 0 || options.rank >= options.size ||
      segment_->size() < BytesFor(options.size)) {
    throw std::invalid_argument(
        "SharedRanks: rank is " + std::to_string(options.rank) + ", size is " +
        std::to_string(options.size) + ", the segment has " +
        std::to_string(segment_->size()) + " bytes");
  }
  At(rank()).pid.store(getpid());
}

SharedRanks::~SharedRanks() {
  // Those that sleep see it at their next look.
  At(rank()).state.store(kLeft);
  for (const int fd : processes_) {
    if (fd >= 0) close(fd);
  }
}

void SharedRanks::Watch() {
  const Clock::time_point deadline = Clock::now() + options_.timeout;
  for (int64_t other = 0; other < size(); ++other) {
    while (At(other).pid.load() == 0) {
      if (Clock::now() >= deadline) ThrowTimeout(other);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const pid_t pid = At(other).pid.load();
    processes_.push_back(pid == getpid() ? -1 : OpenProcess(pid));
  }
}

void SharedRanks::Publish(SharedCounter& counter, uint32_t value) {
  // Either this rank sees the sleeper, or the sleeper sees the new value.
  counter.value.store(value, std::memory_order_seq_cst);
  if (At(rank()).sleepers.load(std::memory_order_seq_cst) > 0) WakeAll(counter);
}

void SharedRanks::ThrowTimeout(int64_t rank) const {
  throw std::runtime_error(Name(rank) + " did not come within " +
                           std::to_string(options_.timeout.count()) + " ms");
}

bool SharedRanks::Spin(const SharedCounter& counter, uint32_t value) const {
  if (!cores_for_all_) return false;
  const Clock::time_point end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (Reached(counter, value)) return true;
      __builtin_ia32_pause();
    }
  } while (Clock::now() < end);
  return false;
}

void SharedRanks::CheckAlive(int64_t rank) const {
  const Member& member = At(rank);
  bool ended = member.state.load() == kLeft;
  const auto index = static_cast<size_t>(rank);
  if (!ended && index < processes_.size()) {
    pollfd process = {.fd = processes_[index], .events = POLLIN, .revents = 0};
    const pid_t pid = member.pid.load();
    if (process.fd >= 0) {
      ended = poll(&process, 1, 0) == 1;
    } else {
      ended = kill(pid, 0) != 0 && errno == ESRCH;
    }
  }
  if (ended) throw std::runtime_error(Name(rank) + " has ended");
}

void SharedRanks::Wait(const SharedCounter& counter, uint32_t value,
                       int64_t rank) {
  if (Reached(counter, value) || Spin(counter, value)) return;
  const Clock::time_point deadline = Clock::now() + options_.timeout;
  Member& member = At(rank);
  member.sleepers.fetch_add(1, std::memory_order_seq_cst);
  try {
    while (true) {
      const uint32_t now = counter.value.load(std::memory_order_seq_cst);
      if (static_cast<int32_t>(now - value) >= 0) break;
      Sleep(counter, now);
      if (Reached(counter, value)) break;
      CheckAlive(rank);
      if (Clock::now() >= deadline) ThrowTimeout(rank);
    }
  } catch (...) {
    member.sleepers.fetch_sub(1);
    // It may have come and ended since.
    if (Reached(counter, value)) return;
    throw;
  }
  member.sleepers.fetch_sub(1);
}

}  // namespace trainyard
