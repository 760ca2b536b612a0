#include "trainer/cores/core_policy.h"

namespace trainyard {
namespace {

// Measurements that are averaged, and those in a row that end the sharing.
constexpr size_t kAveraged = 5;
constexpr int kCalm = 10;
// Threads that had to wait, in cores.
constexpr double kDisturbed = 0.15, kUndisturbed = 0.05;
// Shares of the cores that others use.
constexpr double kTaken = 0.3, kFree = 0.2;
// Waiting that is worth half of the cores.
constexpr double kHeldUp = 0.25;

}  // namespace

CorePolicy::CorePolicy(size_t cores) : cores_(static_cast<double>(cores)) {}

CoreSharing CorePolicy::Decide(const CoreUse& use) {
  last_.push_back(use);
  if (last_.size() > kAveraged) last_.pop_front();
  const CoreSharing next = sharing_ == CoreSharing::kHalfTheCores
                               ? WhileOnHalf(use)
                               : WhileSpread(use);
  if (next != sharing_) {
    // What was measured before tells nothing about the new state.
    last_.clear();
    calm_ = 0;
  }
  sharing_ = next;
  return sharing_;
}

CoreSharing CorePolicy::WhileSpread(const CoreUse& use) {
  double others = 0, waited = 0;
  bool in_step = true;
  for (const CoreUse& one : last_) {
    others += one.others / kAveraged;
    waited += one.waited / kAveraged;
    // Fewer find room beside the others; more compete with one another.
    in_step &= one.active > cores_ / 2 && one.active <= cores_;
  }
  if (last_.size() == kAveraged && in_step && others >= kTaken * cores_ &&
      waited >= kHeldUp) {
    return CoreSharing::kHalfTheCores;
  }
  if (use.waited >= kDisturbed) {
    calm_ = 0;
    return CoreSharing::kShortWaits;
  }
  calm_ = use.waited < kUndisturbed ? calm_ + 1 : 0;
  return calm_ < kCalm ? sharing_ : CoreSharing::kAlone;
}

CoreSharing CorePolicy::WhileOnHalf(const CoreUse& use) {
  // With more threads than cores, as with workers that load data, half of the
  // cores would be too few.
  const bool fits = use.active <= cores_;
  calm_ = fits && use.others >= kFree * cores_ ? 0 : calm_ + 1;
  return calm_ < kCalm ? CoreSharing::kHalfTheCores : CoreSharing::kShortWaits;
}

}  // namespace trainyard
