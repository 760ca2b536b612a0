#include "trainer/data/testing/live_threads.h"

#include <atomic>

namespace trainyard {
namespace {

std::atomic<int64_t>& Count() {
  static std::atomic<int64_t> count = 0;
  return count;
}

struct Counted {
  Counted() { ++Count(); }
  ~Counted() { --Count(); }
};

}  // namespace

void CountThisThread() { static thread_local const Counted counted; }

int64_t LiveThreads() { return Count(); }

}  // namespace trainyard
