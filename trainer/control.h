// Control is how anything that runs inside the loop asks the loop for
// something: to stop, to evaluate, to save a checkpoint. The loop reads it
// between batches, so that no batch is left half done. A request on one rank is
// a request on all of them.
//
// "After the current batch" is exact on one rank. Several ranks tell each other
// their requests along with the gradients of a window, so that no batch waits
// for a message of its own. A request up to OnLossEnd of a window's last batch
// takes effect after that batch, a later one after the next window. Requests in
// events of evaluations, checkpoints, reports and epochs take effect there.
//
//   void OnEvalEnd(const EvalEnd& e, Control& control) override {
//     if (e.metrics.at("eval_loss") < 0.1) control.RequestStop("good enough");
//   }
//
// It also leads to the other callbacks of the run:
//
//   control.callbacks().Fire(BestSoFar{loss});  // any event type
//   auto* ema = control.callbacks().Find<ModelEma>();
//
// Thread-compatible: call it from the thread of the loop only.
#ifndef TRAINYARD_TRAINER_CONTROL_H_
#define TRAINYARD_TRAINER_CONTROL_H_

#include <stdexcept>
#include <string>
#include <utility>

namespace trainyard {

class CallbackHandler;

class Control {
 public:
  // Ends the run after the current batch and saves a checkpoint. The first
  // reason is kept.
  void RequestStop(std::string reason) {
    if (stop_requested_) return;
    stop_requested_ = true;
    reason_ = std::move(reason);
  }

  // Ends the run and saves nothing, so that the last good checkpoint stays the
  // newest: for a run that has gone wrong (a loss is NaN). If requested before
  // an update, that update is not applied.
  void RequestStopAndDiscard(std::string reason) {
    RequestStop(std::move(reason));
    discard_requested_ = true;
  }

  // Evaluates all sets after the current batch, unless they are evaluated then
  // anyway. Without evaluation data it does nothing.
  void RequestEvaluation() { evaluation_requested_ = true; }

  // Saves a checkpoint after the current batch (and after a requested
  // evaluation), unless one is saved then anyway. Without a checkpoint
  // directory it does nothing.
  void RequestCheckpoint() { checkpoint_requested_ = true; }

  bool stop_requested() const { return stop_requested_; }
  bool discard_requested() const { return discard_requested_; }
  const std::string& reason() const { return reason_; }

  // The callbacks of the run. Throws std::logic_error if there is no run.
  CallbackHandler& callbacks() const {
    if (callbacks_ == nullptr) {
      throw std::logic_error("Control: it belongs to no CallbackHandler");
    }
    return *callbacks_;
  }

  // ---- For the loop.

  // Whether anything is requested.
  bool requested() const {
    return stop_requested_ || evaluation_requested_ || checkpoint_requested_;
  }
  // Each returns whether it was requested, and clears the request.
  bool TakeEvaluationRequest() {
    return std::exchange(evaluation_requested_, false);
  }
  bool TakeCheckpointRequest() {
    return std::exchange(checkpoint_requested_, false);
  }
  // Clears all requests; a new run starts with it.
  void Reset() {
    CallbackHandler* const callbacks = callbacks_;
    *this = Control();
    callbacks_ = callbacks;
  }
  void set_callbacks(CallbackHandler* callbacks) { callbacks_ = callbacks; }

 private:
  CallbackHandler* callbacks_ = nullptr;
  bool stop_requested_ = false;
  bool discard_requested_ = false;
  bool evaluation_requested_ = false;
  bool checkpoint_requested_ = false;
  std::string reason_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CONTROL_H_
