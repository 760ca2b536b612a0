#include "backends/while_others_wait.h"

#include <c10/util/Exception.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace trainyard {
namespace {

// Far below any timeout of collectives, and cheap.
constexpr std::chrono::milliseconds kInterval(100);

// Tells the other ranks that this one is alive, until all work is done.
class StillThere {
 public:
  explicit StillThere(Collectives& collectives)
      : thread_([this, &collectives] { Run(collectives); }) {}

  // Call it when the work is done: waits for the work of the other ranks.
  // Throws if a rank is gone.
  void Finish() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_one();
    thread_.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  bool WaitUntilDone() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kInterval, [this] { return done_; });
  }

  void Run(Collectives& collectives) {
    try {
      while (collectives.Any(!WaitUntilDone())) {
      }
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace

void WhileOthersWait(Collectives& collectives, bool works,
                     c10::function_ref<void()> work) {
  if (collectives.num_processes() == 1) {
    if (works) work();
    return;
  }
  std::exception_ptr error;
  if (works) {
    StillThere still_there(collectives);
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    try {
      still_there.Finish();
    } catch (...) {  // a rank is gone; an error of the work comes first
      std::rethrow_exception(error ? error : std::current_exception());
    }
  } else {
    while (collectives.Any(false)) {
    }
  }
  const bool failed = collectives.Any(error != nullptr);
  if (error) std::rethrow_exception(error);
  TORCH_CHECK(!failed, "a rank that this one waited for failed");
}

}  // namespace trainyard
