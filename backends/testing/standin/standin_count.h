// What the stand-in counts: see StandInCounts in standin.h. A plain value.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_STANDIN_COUNT_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_STANDIN_COUNT_H_

#include <cstdint>

namespace trainyard {

struct StandInCount {
  // Launched work, copies included.
  int64_t kernels = 0;
  // Copies between host and device. A blocking one is also a synchronization.
  int64_t copies_to_device = 0;
  int64_t copies_to_host = 0;
  int64_t bytes_to_device = 0;
  int64_t bytes_to_host = 0;
  // How often the host waited for the device, or would have on CUDA.
  int64_t synchronizations = 0;
  // How often a stream waited for an event.
  int64_t stream_waits = 0;
  // Replays of graphs, whose work is counted as well. A capture counts nothing.
  int64_t graph_replays = 0;
  // Collectives on the device.
  int64_t collectives = 0;
  // The largest number of bytes in use at a time.
  int64_t peak_bytes = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_STANDIN_COUNT_H_
