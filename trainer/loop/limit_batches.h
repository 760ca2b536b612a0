// LimitBatches shortens every epoch and evaluation of a program that is tried
// out, without a change to it:
//
//   TRAINYARD_LIMIT_BATCHES=5 my_program
//
// Thread-safe, as long as nothing changes the environment.
#ifndef TRAINYARD_TRAINER_LOOP_LIMIT_BATCHES_H_
#define TRAINYARD_TRAINER_LOOP_LIMIT_BATCHES_H_

#include <cstdint>

namespace trainyard {

// The smaller of `limit` and what the environment variable says; 0 is no limit,
// and so is a variable that is empty or not set. Throws std::invalid_argument,
// which quotes it, if the variable is neither empty nor a positive whole
// number.
int64_t LimitBatches(int64_t limit);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_LIMIT_BATCHES_H_
