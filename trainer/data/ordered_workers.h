// OrderedWorkers computes the values 0, 1, …, count - 1 on several threads and
// returns them in order: the number of threads changes the speed and nothing
// else. At most `ahead` values exist that were not taken yet.
//
//   OrderedWorkers<std::string> pages(
//       {.workers = 2, .ahead = 4}, 100,
//       [&](int64_t i) { return Render(i); });
//   while (!pages.done()) Print(pages.Next());
//
// The threads end when all values are made, or in the destructor. Free of
// libtorch.
//
// Thread-compatible: one thread calls Next; `make` is called from several.
#ifndef TRAINYARD_TRAINER_DATA_ORDERED_WORKERS_H_
#define TRAINYARD_TRAINER_DATA_ORDERED_WORKERS_H_

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace trainyard {

struct OrderedWorkersOptions {
  // Threads. REQUIRES: >= 1.
  int64_t workers = 1;
  // Values that are made, or being made, before Next asks for them. REQUIRES:
  // >= 1.
  int64_t ahead = 2;
};

template <class T>
class OrderedWorkers {
 public:
  using Make = std::function<T(int64_t index)>;

  OrderedWorkers(const OrderedWorkersOptions& options, int64_t count, Make make)
      : count_(count), make_(std::move(make)) {
    if (options.workers < 1 || options.ahead < 1 || count < 0) {
      throw std::invalid_argument(
          "OrderedWorkers: workers is " + std::to_string(options.workers) +
          ", ahead is " + std::to_string(options.ahead) + ", count is " +
          std::to_string(count));
    }
    slots_.resize(static_cast<size_t>(options.ahead));
    const int64_t threads = std::min({options.workers, options.ahead, count});
    try {
      for (int64_t i = 0; i < threads; ++i)
        threads_.emplace_back([this] { Work(); });
    } catch (...) {  // the system has no thread left: join those started
      Stop();
      throw;
    }
  }

  OrderedWorkers(const OrderedWorkers&) = delete;
  OrderedWorkers& operator=(const OrderedWorkers&) = delete;

  // Waits for the values that are being made.
  ~OrderedWorkers() { Stop(); }

  bool done() const { return taken_ == count_; }

  // Returns the next value. If `make` threw for it, throws that; the call after
  // it returns the value after it. REQUIRES: not done().
  T Next() {
    Slot slot;
    {
      std::unique_lock lock(mutex_);
      Slot& mine = slots_[static_cast<size_t>(taken_) % slots_.size()];
      made_.wait(lock, [&] { return mine.value || mine.error; });
      slot = std::exchange(mine, {});
      ++taken_;
    }
    room_.notify_one();
    if (slot.error) std::rethrow_exception(slot.error);
    return *std::move(slot.value);
  }

 private:
  struct Slot {
    std::optional<T> value;
    std::exception_ptr error;
  };

  void Work() {
    std::unique_lock lock(mutex_);
    while (true) {
      room_.wait(lock, [&] {
        return stop_ || started_ == count_ ||
               started_ < taken_ + static_cast<int64_t>(slots_.size());
      });
      if (stop_ || started_ == count_) break;
      const int64_t index = started_++;
      lock.unlock();
      Slot slot;
      try {
        slot.value.emplace(make_(index));
      } catch (...) {
        slot.error = std::current_exception();
      }
      lock.lock();
      slots_[static_cast<size_t>(index) % slots_.size()] = std::move(slot);
      if (index == taken_) made_.notify_one();
    }
    // Other threads may still wait for room.
    room_.notify_all();
  }

  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    room_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  const int64_t count_;
  const Make make_;
  std::mutex mutex_;
  std::condition_variable room_, made_;
  std::vector<Slot> slots_;
  int64_t started_ = 0;
  int64_t taken_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_ORDERED_WORKERS_H_
