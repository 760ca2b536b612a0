#include "trainer/cores/fewer_cores.h"

#include <sched.h>

#include <utility>

#include "trainer/cores/core_use.h"

namespace trainyard {
namespace {

cpu_set_t SetOf(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  return set;
}

}  // namespace

FewerCores::FewerCores(std::vector<int> all, const std::vector<int>& some)
    : all_(std::move(all)), now_(all_) {
  Move(some, SCHED_OTHER, SCHED_BATCH);
}

FewerCores::~FewerCores() { Move(all_, SCHED_BATCH, SCHED_OTHER); }

void FewerCores::MoveTo(const std::vector<int>& some) {
  Move(some, SCHED_BATCH, SCHED_BATCH);
}

void FewerCores::Move(const std::vector<int>& to, int from_policy,
                      int to_policy) {
  const cpu_set_t from_set = SetOf(now_);
  const cpu_set_t to_set = SetOf(to);
  // A thread that was just moved may not have seen one start: until none is
  // left.
  for (bool moved = true; moved;) {
    moved = false;
    for (const int id : ThreadIds()) {
      cpu_set_t set;
      if (sched_getaffinity(id, sizeof(set), &set) != 0) continue;  // has ended
      if (!CPU_EQUAL(&set, &from_set) || CPU_EQUAL(&set, &to_set)) continue;
      if (sched_setaffinity(id, sizeof(to_set), &to_set) != 0) continue;
      moved = true;
      const sched_param priority{};
      if (sched_getscheduler(id) == from_policy && from_policy != to_policy) {
        sched_setscheduler(id, to_policy, &priority);
      }
    }
  }
  now_ = to;
}

}  // namespace trainyard
