// RandomState lets a CPU kernel draw from the generator of a device as long as
// it lives.
//
// Internal to the stand-in; see standin.h. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_RANDOM_STATE_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_RANDOM_STATE_H_

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/Device.h>

#include <optional>

namespace trainyard::standin {

class RandomState {
 public:
  // Replaces the missing generator of a random operator by the device's. One
  // that has no such argument uses the CPU's own: that gets the device's state.
  RandomState(const c10::OperatorHandle& op, c10::DeviceIndex device,
              torch::jit::Stack& host);
  ~RandomState();
  RandomState(const RandomState&) = delete;
  RandomState& operator=(const RandomState&) = delete;

 private:
  std::optional<at::Generator> own_;
  at::Tensor before_;
};

}  // namespace trainyard::standin

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_RANDOM_STATE_H_
