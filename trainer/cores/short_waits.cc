#include "trainer/cores/short_waits.h"

#include <dlfcn.h>

namespace trainyard {
namespace {

// What g++ makes of `#pragma omp parallel`, and the cores that libgomp counts.
using ParallelFunction = void (*)(void (*run)(void*), void* data,
                                  unsigned threads, unsigned flags);
using CoresFunction = int (*)();

// Null in a program without OpenMP: this library needs none.
template <typename Function>
Function OfLibgomp(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

ShortWaits::ShortWaits() : thread_([this] { KeepTeam(); }) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ready_; });
}

ShortWaits::~ShortWaits() {
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// A thread that ends takes its team along.
void ShortWaits::KeepTeam() {
  const auto parallel = OfLibgomp<ParallelFunction>("GOMP_parallel");
  const auto cores = OfLibgomp<CoresFunction>("omp_get_num_procs");
  if (parallel != nullptr && cores != nullptr) {
    parallel([](void*) {}, nullptr, static_cast<unsigned>(cores()) + 1, 0);
  }
  std::unique_lock lock(mutex_);
  ready_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return end_; });
}

}  // namespace trainyard
