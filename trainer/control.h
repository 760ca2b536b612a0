// Control is how anything that runs inside the loop asks for its end. The loop
// reads it at step boundaries, so that a batch is never left half done;
// stopping is not an exception.
//
//   void OnEvalEnd(const EvalEnd& e, Control& control) override {
//     if (e.metrics.at("eval_loss") < 0.1) control.RequestStop("good enough");
//   }
//
// Thread-compatible: the loop's thread only.
#ifndef TRAINYARD_TRAINER_CONTROL_H_
#define TRAINYARD_TRAINER_CONTROL_H_

#include <string>
#include <utility>

namespace trainyard {

class Control {
 public:
  // The first reason is kept: it is the one that ends the run.
  void RequestStop(std::string reason) {
    if (stop_requested_) return;
    stop_requested_ = true;
    reason_ = std::move(reason);
  }

  // The same, when the run has gone wrong (a loss is NaN): no checkpoint is
  // saved at the end, so that the last good one stays the newest. Asked for
  // before an update, that update is not applied.
  void RequestStopAndDiscard(std::string reason) {
    RequestStop(std::move(reason));
    discard_requested_ = true;
  }

  bool stop_requested() const { return stop_requested_; }
  bool discard_requested() const { return discard_requested_; }
  const std::string& reason() const { return reason_; }

  // Forgets the request; a new run starts with it.
  void Reset() { *this = Control(); }

 private:
  bool stop_requested_ = false;
  bool discard_requested_ = false;
  std::string reason_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CONTROL_H_
