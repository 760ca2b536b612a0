// LateValues reads numbers from a device without waiting for it: it starts a
// copy, and has the numbers some steps later. Numbers on the CPU are there at
// once.
//
//   LateValues late;
//   late.Start({{"loss", loss}});
//   if (const auto values = late.Take()) display.Show(*values);
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_PRINTING_LATE_VALUES_H_
#define TRAINYARD_CALLBACKS_PRINTING_LATE_VALUES_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

class LateValues {
 public:
  // By name.
  using Values = std::vector<std::pair<std::string, double>>;
  using Tensors = std::vector<std::pair<std::string, at::Tensor>>;

  // Starts to read these numbers. Tensors that are not one number are left
  // out. Does nothing while earlier numbers are on their way.
  void Start(const Tensors& tensors);

  // Returns the numbers, once, if they have arrived.
  std::optional<Values> Take();

  // Drops numbers that are on their way.
  void Drop();

 private:
  std::vector<std::string> names_;
  // Page-locked if the numbers come from a device.
  at::Tensor host_;
  std::optional<c10::Event> copied_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_LATE_VALUES_H_
