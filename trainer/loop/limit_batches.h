// LimitBatches shortens every epoch and evaluation of a program, to try it out
// without a change to it:
//
//   TRAINYARD_LIMIT_BATCHES=5 my_program
//
// Thread-safe, as long as nothing changes the environment.
#ifndef TRAINYARD_TRAINER_LOOP_LIMIT_BATCHES_H_
#define TRAINYARD_TRAINER_LOOP_LIMIT_BATCHES_H_

#include <cstdint>
#include <optional>

namespace trainyard {

// Returns the smaller of `limit` and the environment variable. Unset, or an
// empty variable, is no limit. Throws std::invalid_argument, which quotes the
// variable, if it is neither empty nor a positive whole number.
std::optional<int64_t> LimitBatches(std::optional<int64_t> limit);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_LIMIT_BATCHES_H_
