// ForwardState captures what a computation depends on besides its inputs: the
// random number generators and autocast. ForwardState::Restore restores it for
// a scope.
//
//   const ForwardState before(inputs, /*rng=*/true);
//   …
//   {
//     const ForwardState::Restore restored(before);
//     outputs = block(inputs);  // computes the same as the first time
//   }
//
// Thread-safe: it reads and writes autocast of the current thread, and locks
// the generators.
#ifndef TRAINYARD_FINETUNING_RECOMPUTE_FORWARD_STATE_H_
#define TRAINYARD_FINETUNING_RECOMPUTE_FORWARD_STATE_H_

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <vector>

namespace trainyard {

class ForwardState {
 public:
  // Captures the current state: autocast and, if `rng` is set, the generators
  // of the CPU and of the inputs' devices.
  ForwardState(const std::vector<at::Tensor>& inputs, bool rng);

  class Restore;

 private:
  struct Rng {
    at::Generator generator;
    at::Tensor state;
  };
  struct Casting {
    c10::DeviceType device;
    bool enabled;
    c10::ScalarType dtype;
  };

  explicit ForwardState(const std::vector<Rng>& generators);
  void ReadAutocast();
  void Apply() const;

  std::vector<Rng> generators_;
  std::vector<Casting> autocast_;
};

// Applies a state for its lifetime, then puts the current one back.
class ForwardState::Restore {
 public:
  explicit Restore(const ForwardState& state);
  ~Restore();
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  ForwardState now_;
};

// Disables autocast's cache of cast weights for its lifetime. A cached cast
// that two computations share would connect their graphs.
class NoAutocastCache {
 public:
  NoAutocastCache();
  ~NoAutocastCache();
  NoAutocastCache(const NoAutocastCache&) = delete;
  NoAutocastCache& operator=(const NoAutocastCache&) = delete;

 private:
  bool before_;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_RECOMPUTE_FORWARD_STATE_H_
