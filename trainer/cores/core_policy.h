// CorePolicy decides how a program shares the cores with others, from what
// CoreUseMeter measured every tenth of a second.
//
//   CorePolicy policy(2);
//   EXPECT_EQ(policy.Decide(meter.Measure()), CoreSharing::kAlone);
//
// A program goes on sharing for a second after the reason has gone, so that it
// changes at most once a second. Thread-compatible.
#ifndef TRAINYARD_TRAINER_CORES_CORE_POLICY_H_
#define TRAINYARD_TRAINER_CORES_CORE_POLICY_H_

#include <cstddef>
#include <deque>

#include "trainer/cores/core_use.h"

namespace trainyard {

enum class CoreSharing {
  // The cores are free.
  kAlone,
  // Threads had to wait for a core: those that wait for another thread must
  // not occupy one.
  kShortWaits,
  // The same, and others use so much that half of the cores are enough. Threads
  // that work in step wait for the one whose core is taken; two of them on a
  // free core are faster.
  kHalfTheCores,
};

class CorePolicy {
 public:
  // The number of cores that the program may run on.
  explicit CorePolicy(size_t cores);

  CoreSharing Decide(const CoreUse& use);

 private:
  CoreSharing WhileSpread(const CoreUse& use);
  CoreSharing WhileOnHalf(const CoreUse& use);

  const double cores_;
  CoreSharing sharing_ = CoreSharing::kAlone;
  std::deque<CoreUse> last_;  // the last few measurements
  int calm_ = 0;              // measurements in a row without a reason to share
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CORES_CORE_POLICY_H_
