// HeldTensors is what one rank saves of a group of tensors: those that every
// rank has as a whole, and its slices of those that are sharded.
//
//   const HeldTensors held = HeldOf(task.NamedTensors(), backend);
//   LoadHeld(saved, held);  // whole tensors, cut to the slices
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_LOOP_HELD_TENSORS_H_
#define TRAINYARD_TRAINER_LOOP_HELD_TENSORS_H_

#include <vector>

#include "backends/backend.h"
#include "trainer/model/named_tensor.h"
#include "trainer/model/tensor_slice.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

struct HeldTensors {
  std::vector<NamedTensor> whole = {};
  std::vector<TensorSlice> slices = {};
};

// The tensors of models that the backend has prepared.
HeldTensors HeldOf(const std::vector<NamedTensor>& tensors,
                   const Backend& backend);

// The state of an optimizer.
HeldTensors HeldOf(const Optimizer& optimizer);

// Copies saved whole tensors into these. Throws StatusError, listing all
// differences, if names, shapes or types differ; then nothing has changed.
void LoadHeld(const std::vector<NamedTensor>& saved, const HeldTensors& held);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_HELD_TENSORS_H_
