#include "trainer/default_callbacks.h"

#include <utility>

#include "callbacks/printing/epoch_table.h"
#include "callbacks/printing/progress_bar.h"
#include "callbacks/stopping/terminate_on_nan.h"

namespace trainyard {
namespace {

// A CPU computes before it returns: reading a loss costs nothing. On other
// devices it waits, so losses are read together.
constexpr int64_t kBatchesBetweenReads = 50;

}  // namespace

template <class T>
void DefaultCallbacks::AddUnlessThere(T&& callback) {
  if (handler_.Find<T>() != nullptr) return;
  added_.push_back(&handler_.Add(std::forward<T>(callback)));
}

DefaultCallbacks::DefaultCallbacks(CallbackHandler& handler,
                                   const DefaultCallbacksOptions& options)
    : handler_(handler) {
  if (options.backend.rank() == 0) {
    AddUnlessThere(ProgressBar());
    AddUnlessThere(EpochTable());
  }
  if (options.stop_on_nan) {
    const bool on_cpu = options.backend.device().is_cpu();
    AddUnlessThere(
        TerminateOnNaN({.every_batches = on_cpu ? 1 : kBatchesBetweenReads}));
  }
}

DefaultCallbacks::~DefaultCallbacks() {
  for (Callback* callback : added_) handler_.Remove(*callback);
}

}  // namespace trainyard
