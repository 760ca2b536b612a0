// The points of LinePoints as a stream of unknown length, in another order each
// epoch, for tests of runs.
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_TESTING_LINE_STREAM_H_
#define TRAINYARD_TRAINER_TESTING_LINE_STREAM_H_

#include <cstdint>

#include "trainer/data/load_options.h"

namespace trainyard {

MakeSource LineStream(int64_t size);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TESTING_LINE_STREAM_H_
