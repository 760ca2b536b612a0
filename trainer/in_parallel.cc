#include "trainer/in_parallel.h"

#include <ATen/Parallel.h>
#include <c10/util/ParallelGuard.h>

#include <atomic>
#include <exception>

// From libgomp, which libtorch links: what g++ makes of `#pragma omp parallel`.
// Only g++ links it by itself. 0 threads are as many as libtorch uses.
extern "C" void GOMP_parallel(void (*run)(void*), void* data, unsigned threads,
                              unsigned flags);

namespace trainyard {
namespace {

struct Job {
  c10::function_ref<void(int64_t)> work;
  int64_t count;
  std::atomic<int64_t> next{0};
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
  std::exception_ptr error;
};

void RunJob(void* data) {
  Job& job = *static_cast<Job*>(data);
  const c10::ParallelGuard guard(true);
  try {
    for (int64_t i = job.next++; i < job.count; i = job.next++) job.work(i);
  } catch (...) {
    job.next = job.count;
    if (!job.failed.test_and_set()) job.error = std::current_exception();
  }
}

}  // namespace

void InParallel(int64_t count, c10::function_ref<void(int64_t)> work) {
  Job job{.work = work, .count = count};
  if (count <= 1 || at::in_parallel_region() || at::get_num_threads() == 1) {
    RunJob(&job);
  } else {
    GOMP_parallel(RunJob, &job, 0, 0);
  }
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace trainyard
