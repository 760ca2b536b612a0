// ForwardState is what a computation depends on beside its inputs: where the
// random number generators stand, and autocast.
//
//   const ForwardState before(inputs, /*rng=*/true);
//   …
//   {
//     const ForwardState::Again again(before);
//     outputs = block(inputs);  // as the first time
//   }
//
// Thread-safe: it reads and writes the current thread's autocast, and
// generators under their locks.
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
  // As it is now. With `rng`, of the host's generator and of those of the
  // inputs' devices.
  ForwardState(const std::vector<at::Tensor>& inputs, bool rng);

  class Again;

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

// As it was, for as long as this lives.
class ForwardState::Again {
 public:
  explicit Again(const ForwardState& state);
  ~Again();
  Again(const Again&) = delete;
  Again& operator=(const Again&) = delete;

 private:
  ForwardState now_;
};

// While it lives, autocast casts a weight anew at each use: a cast that two
// computations shared would tie their graphs together.
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
