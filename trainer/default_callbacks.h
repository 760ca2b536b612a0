// DefaultCallbacks adds what a run has without asking, for as long as it lives:
// on rank 0 a ProgressBar and an EpochTable, and on all ranks a TerminateOnNaN
// that stops the run when a loss is not finite.
//
//   DefaultCallbacks defaults(handler, {.backend = *backend});
//
// A callback of the same class that the user added takes the place of the
// default one.
//
// Thread-compatible. Borrows the handler.
#ifndef TRAINYARD_TRAINER_DEFAULT_CALLBACKS_H_
#define TRAINYARD_TRAINER_DEFAULT_CALLBACKS_H_

#include <vector>

#include "backends/backend.h"
#include "callbacks/callback.h"
#include "callbacks/callback_handler.h"

namespace trainyard {

struct DefaultCallbacksOptions {
  // Of the run. Borrowed.
  const Backend& backend;
  // False for a run that continues after a loss that is not finite.
  bool stop_on_nan = true;
};

class DefaultCallbacks {
 public:
  DefaultCallbacks(CallbackHandler& handler,
                   const DefaultCallbacksOptions& options);
  ~DefaultCallbacks();

  DefaultCallbacks(const DefaultCallbacks&) = delete;
  DefaultCallbacks& operator=(const DefaultCallbacks&) = delete;

 private:
  template <class T>
  void AddUnlessThere(T&& callback);

  CallbackHandler& handler_;
  std::vector<Callback*> added_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DEFAULT_CALLBACKS_H_
