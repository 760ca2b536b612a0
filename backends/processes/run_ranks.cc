#include "backends/processes/run_ranks.h"

#include <c10/util/Exception.h>

#include <exception>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "backends/processes/listening_socket.h"
#include "backends/processes/store.h"

namespace trainyard {
namespace {

// The exception that was thrown first, of any thread.
class FirstError {
 public:
  void Add(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  void Rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

void RunRanks(int64_t count,
              const std::function<void(const Rendezvous&)>& rank) {
  TORCH_CHECK_VALUE(count >= 1, "RunRanks: count is ", count,
                    "; it must be at least 1");
  ListeningSocket socket("127.0.0.1", 0);
  Rendezvous rendezvous = {.world_size = count,
                           .local_world_size = count,
                           .port = socket.port(),
                           .store_is_elsewhere = true};
  // Outlives the ranks: each can ask it who is missing, also without rank 0.
  const auto store = ServeStore(socket);
  FirstError first_error;
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < count; ++i) {
    rendezvous.rank = i;
    rendezvous.local_rank = i;
    threads.emplace_back([&first_error, &rank, rendezvous] {
      try {
        rank(rendezvous);
      } catch (...) {
        first_error.Add(std::current_exception());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  first_error.Rethrow();
}

}  // namespace trainyard
