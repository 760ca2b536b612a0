// WindowGradients saves and loads the gradients that an unfinished accumulation
// window has added up so far.
//
//   WindowGradients gradients(task);
//   checkpoint.parts["gradients"] = gradients.SaveState();
//
// Thread-compatible. Borrows the task.
#ifndef TRAINYARD_TRAINER_LOOP_WINDOW_GRADIENTS_H_
#define TRAINYARD_TRAINER_LOOP_WINDOW_GRADIENTS_H_

#include "trainer/state.h"
#include "trainer/task.h"

namespace trainyard {

class WindowGradients final : public Stateful {
 public:
  explicit WindowGradients(const Task& task) : task_(task) {}

  // Parameters without a gradient are left out.
  State SaveState() const override;
  // Parameters that the state does not have keep what they have.
  void LoadState(const State& state) override;

 private:
  const Task& task_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_WINDOW_GRADIENTS_H_
