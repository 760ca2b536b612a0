// InParallel divides work on the CPU among libtorch's own threads.
//
//   std::vector<double> sums(4);
//   InParallel(4, [&](int64_t i) { sums[i] = Sum(rows[i]); });
//
// at::parallel_for does not: what it compiles to outside libtorch without the
// compiler's OpenMP is a loop on one thread.
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_IN_PARALLEL_H_
#define TRAINYARD_TRAINER_IN_PARALLEL_H_

#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace trainyard {

// Calls `work` once with each number below `count`, on at::get_num_threads()
// threads, this one among them, and returns when all calls have. Which thread
// takes which number changes from call to call. Inside of other parallel work
// it is a plain loop. If a call throws, no further number is started, and the
// first exception is thrown here.
void InParallel(int64_t count, c10::function_ref<void(int64_t)> work);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IN_PARALLEL_H_
