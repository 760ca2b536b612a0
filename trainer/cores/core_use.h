// CoreUseMeter measures who uses the cores that this process may run on: its
// own threads, or other programs, and whether its threads had to wait for a
// core.
//
//   CoreUseMeter meter(AllowedCores());
//   …
//   const CoreUse use = meter.Measure();  // since the last call
//
// It reads /proc, which is exact for this process and has ticks of a hundredth
// of a second for other programs: measure over a tenth of a second or more.
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CORES_CORE_USE_H_
#define TRAINYARD_TRAINER_CORES_CORE_USE_H_

#include <chrono>
#include <map>
#include <vector>

namespace trainyard {

// Averages over the time between two measurements, in cores.
struct CoreUse {
  // Threads of this process that ran, and that could have run but had no core.
  double run = 0, waited = 0;
  // Number of threads that ran or waited for three tenths of the time or more.
  int active = 0;
  // Cores that all programs used, in the order of CoreUseMeter's.
  std::vector<double> busy;
  // Of these, what other programs used.
  double others = 0;
};

// The numbers of the cores that the calling thread may run on.
std::vector<int> AllowedCores();

// The ids of the threads of this process.
std::vector<int> ThreadIds();

class CoreUseMeter {
 public:
  // `cores`: see AllowedCores. Threads that start later are counted, too.
  explicit CoreUseMeter(std::vector<int> cores);

  // Since the last call, or the constructor. All zeros if /proc says nothing.
  CoreUse Measure();

 private:
  struct ThreadTime {
    double run = 0, waited = 0;
  };

  std::vector<double> BusySeconds() const;
  std::map<int, ThreadTime> ThreadTimes() const;

  const std::vector<int> cores_;
  std::chrono::steady_clock::time_point at_{};
  std::vector<double> busy_;
  std::map<int, ThreadTime> threads_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CORES_CORE_USE_H_
