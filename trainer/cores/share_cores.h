// ShareCores keeps training fast on a machine where other programs use the
// cores, too: a busy neighbour costs its share, and not many times as much.
//
//   const ShareCores share;  // in main, before training
//
// Main (trainer/main.h) has one. Ten times a second it looks who uses the
// cores. On free ones it changes nothing. When threads have to wait for a core,
// those that wait for each other sleep (ShortWaits). When others use three
// tenths of the cores or more, and threads work in step on more than half of
// them, they move to half of the cores, two on each (FewerCores), and back when
// the others have ended.
//
// No result changes: the number of threads stays, and with it how work is
// divided. Fewer threads would be faster by a sixth beside a neighbour, but
// sums that are divided among threads then differ in their last bits: set
// OMP_NUM_THREADS=1 if that may be.
//
// The variable TRAINYARD_SHARE_CORES=0 switches it off. Of the two measures the
// first is left to whoever sets OMP_WAIT_POLICY or GOMP_SPINCOUNT, the second
// to whoever binds threads by OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY.
//
// It is for the whole process: have one. Thread-safe.
#ifndef TRAINYARD_TRAINER_CORES_SHARE_CORES_H_
#define TRAINYARD_TRAINER_CORES_SHARE_CORES_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "trainer/cores/core_policy.h"

namespace trainyard {

struct ShareCoresOptions {
  // Whether threads may wait asleep, and on half of the cores.
  bool short_waits = true;
  bool fewer_cores = true;
};

// What the variables above leave.
ShareCoresOptions ShareCoresFromEnvironment();

class ShareCores {
 public:
  explicit ShareCores(
      const ShareCoresOptions& options = ShareCoresFromEnvironment());
  ~ShareCores();
  ShareCores(const ShareCores&) = delete;
  ShareCores& operator=(const ShareCores&) = delete;

  // What it does now.
  CoreSharing sharing() const { return sharing_; }

 private:
  void Watch();
  // Returns false at the end.
  bool Pause(std::chrono::milliseconds period);

  const ShareCoresOptions options_;
  std::atomic<CoreSharing> sharing_{CoreSharing::kAlone};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CORES_SHARE_CORES_H_
