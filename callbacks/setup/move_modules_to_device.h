// MoveModulesToDevice moves modules that are not models of the task, such as
// losses with tensors of their own, to the device of the run. The task's models
// are there already.
//
//   trainer.Add(MoveModulesToDevice(backend->device(), {metric.ptr()}));
//
// It acts before the first run or evaluation, and again before each run.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_SETUP_MOVE_MODULES_TO_DEVICE_H_
#define TRAINYARD_CALLBACKS_SETUP_MOVE_MODULES_TO_DEVICE_H_

#include <c10/core/Device.h>

#include <memory>
#include <vector>

#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/model/model.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

class MoveModulesToDevice final : public Callback {
 public:
  // Throws c10::ValueError for a null module.
  MoveModulesToDevice(
      at::Device device,
      const std::vector<std::shared_ptr<torch::nn::Module>>& modules);

  // Before other callbacks use the modules.
  int priority() const override { return -200; }

  void OnInitEnd(const InitEnd&, Control&) override { Move(); }
  void OnRunStart(const RunStart&, Control&) override { Move(); }

 private:
  void Move() const;

  at::Device device_;
  std::vector<std::shared_ptr<Model>> modules_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_SETUP_MOVE_MODULES_TO_DEVICE_H_
