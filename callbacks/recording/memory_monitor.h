// MemoryMonitor records the memory of this process at the end of each epoch, in
// MiB: "memory_mb" is the current size, "memory_peak_mb" the largest so far.
//
//   trainer.Add(MemoryMonitor());
//
// A size that grows from epoch to epoch is a leak, often of a graph that is
// referenced by a tensor. Memory of devices is not included. Linux only: it
// reads /proc.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_RECORDING_MEMORY_MONITOR_H_
#define TRAINYARD_CALLBACKS_RECORDING_MEMORY_MONITOR_H_

#include <string>

#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

struct MemoryMonitorOptions {
  // For tests: a file in the format of this one.
  std::string status_file = "/proc/self/status";
};

class MemoryMonitor final : public Callback {
 public:
  explicit MemoryMonitor(MemoryMonitorOptions options = {});

  // Throws std::runtime_error if the file cannot be read.
  void OnEpochEnd(const EpochEnd& e, Control&) override;

 private:
  MemoryMonitorOptions options_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_RECORDING_MEMORY_MONITOR_H_
