// UnitSchedule gathers and frees the units of sharded models as passes use
// them: a unit is whole while it computes, forward and backward, and the next
// one is gathered meanwhile, in the order of the last pass. What is in no unit
// is in the root unit, which is whole from the start of forward to the end of
// backward.
//
//   const auto units = std::make_shared<UnitSchedule>(group, exchange, options);
//   units->Use(models, find_slice);
//   units->StartForward();
//   …                           // calls Enter and Leave
//   units->EndForward();
//   units->StartBackward(/*sync=*/true);
//   loss.backward();            // calls Computed for every gradient
//   units->EndBackward();
//
// All ranks must make the same passes through the same units.
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_SHARDED_UNIT_SCHEDULE_H_
#define TRAINYARD_BACKENDS_SHARDED_UNIT_SCHEDULE_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/processes/process_group.h"
#include "backends/sharded/shard_unit.h"
#include "backends/sharded/slice_exchange.h"
#include "trainer/model/model_tensors.h"
#include "trainer/model/model_unit.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

struct UnitScheduleOptions {
  // Of gathers. REQUIRES: > 0.
  size_t bucket_bytes = size_t{25} << 20;
  // Whether a declared unit, by its name "<model>.<module>", is one; else it is
  // part of the root unit. Null: all are.
  std::function<bool(const std::string&)> is_unit = nullptr;
  // Whether units stay whole from forward to backward: half of the gathers, for
  // the memory of all parameters.
  bool keep_after_forward = false;
  // Whether the next unit is gathered while one computes.
  bool prefetch = true;
};

class UnitSchedule final : public UnitWatcher,
                           public std::enable_shared_from_this<UnitSchedule> {
 public:
  using FindSlice = std::function<const ParamSlice*(const at::Tensor&)>;

  // Borrows group and exchange.
  UnitSchedule(ProcessGroup& group, SliceExchange& exchange,
               UnitScheduleOptions options);

  // Makes the units of these models and frees all their parameters that have a
  // slice. Units of earlier models are forgotten.
  void Use(const std::vector<ModelTensors>& models, const FindSlice& find);

  // The number of a parameter's unit; 0 is the root unit.
  size_t UnitOf(const at::Tensor& parameter) const;
  size_t size() const { return units_.size(); }
  const ShardUnit& unit(size_t index) const { return *units_[index].shard; }

  // Around passes. A backward pass may be within a forward pass.
  void StartForward();
  void EndForward();
  // `sync`: gradients are exchanged, and Sending is called.
  void StartBackward(bool sync);
  void EndBackward();
  // In place of the End of a pass that an error has ended.
  void AbandonPass();
  void Enter(const ModelUnit& unit,
             const std::vector<at::Tensor>& inputs) override;
  void Leave(const ModelUnit& unit,
             const std::vector<at::Tensor>& outputs) override;
  // The gradient of a parameter was computed.
  void Computed(const at::Tensor& parameter);
  // A bucket of gradients is about to be sent.
  void Sending(size_t model, size_t bucket);

  // For a rank without a batch: takes part in the gathers of a forward pass,
  // unless one was made since the last backward pass, and in those of a
  // backward pass. `send` sends a bucket; null: a pass without `sync`.
  void ReplayForward();
  void ReplayBackward(const std::function<void(size_t, size_t)>& send);
  void EndReplay();

  // All units, until ReleaseAll is called as often.
  void GatherAll();
  void ReleaseAll();
  bool all_gathered() const { return gathered_ > 0; }
  // Gathers what is whole again, because slices have new values.
  void Refresh();
  // Copies whole parameters to the slices. REQUIRES: all_gathered().
  void Cut();

 private:
  // One way of a forward pass through a unit.
  struct Way;
  struct Unit {
    std::unique_ptr<ShardUnit> shard;
    // The ways through it that forward is on.
    std::vector<std::shared_ptr<Way>> inside = {};
    // Of the current backward pass: the parameters that are trained, of these
    // the ones whose gradients are computed, and the ways that backward has
    // begun and not finished.
    size_t trained = 0;
    size_t computed = 0;
    size_t open = 0;
  };
  // What a pass does that other ranks take part in: it gathers a unit, or sends
  // a bucket of gradients.
  struct Event {
    bool sends = false;
    size_t unit = 0;
    size_t model = 0;
    size_t bucket = 0;
  };
  struct Pass {
    std::vector<Event> events;
    std::vector<size_t> order;  // in which units are used
  };

  Pass& pass() { return in_backward_ ? backward_ : forward_; }
  const Pass& last() const {
    return in_backward_ ? last_backward_ : last_forward_;
  }
  // Makes a unit whole for its use, and starts to gather the next one.
  void Demand(size_t unit);
  void Release(size_t unit);
  void ReleaseIfDone(size_t unit);
  void DropStarted();
  void OutputReached(Way& way);
  void InputReached(Way& way);
  void Replay(const std::vector<Event>& events,
              const std::function<void(size_t, size_t)>& send);

  ProcessGroup& group_;
  SliceExchange& exchange_;
  const UnitScheduleOptions options_;
  std::vector<Unit> units_;                          // the first is the root
  std::unordered_map<const void*, size_t> unit_of_;  // by parameter
  std::unordered_map<const ModelUnit*, size_t> by_declared_;
  size_t gathered_ = 0;
  size_t forwards_ = 0;  // nested
  bool in_backward_ = false;
  bool forward_pending_ = false;
  bool backward_in_forward_ = false;
  Pass forward_, backward_;            // the current ones
  Pass last_forward_, last_backward_;  // that recorded gradients
  std::vector<Event> last_sync_;       // of the last backward with sync
  bool sync_ = false;
  size_t models_ = 0;  // the number of calls of Use
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARDED_UNIT_SCHEDULE_H_
