// MoveModulesToDevice puts modules that are no models of the task, such as
// metrics and losses with tensors of their own, on the device that the run is
// on. The task's models are there already.
//
//   trainer.Add(MoveModulesToDevice(backend->device(), {metric.ptr()}));
//
// Before the first run or evaluation, and again before each run.
//
// Thread-compatible: the loop calls it from one thread.
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

  // Before anyone uses them.
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
