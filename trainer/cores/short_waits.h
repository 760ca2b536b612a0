// ShortWaits makes OpenMP's threads sleep when they wait for each other, for as
// long as the object exists. Without it libgomp's wait in a loop for some
// milliseconds, which is fast on free cores, and occupies the core that the
// awaited thread needs on others.
//
//   {
//     const ShortWaits short_waits;
//     … // training beside another program
//   }
//
// It changes no result. libgomp reads GOMP_SPINCOUNT and OMP_WAIT_POLICY before
// main, where a program cannot set them. But it also shortens its waits when it
// has more threads than there are cores: the object keeps a team of sleeping
// ones. Nothing happens without libgomp. Thread-compatible.
#ifndef TRAINYARD_TRAINER_CORES_SHORT_WAITS_H_
#define TRAINYARD_TRAINER_CORES_SHORT_WAITS_H_

#include <condition_variable>
#include <mutex>
#include <thread>

namespace trainyard {

class ShortWaits {
 public:
  // Returns when waits are short.
  ShortWaits();
  ~ShortWaits();
  ShortWaits(const ShortWaits&) = delete;
  ShortWaits& operator=(const ShortWaits&) = delete;

 private:
  void KeepTeam();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ready_ = false;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CORES_SHORT_WAITS_H_
