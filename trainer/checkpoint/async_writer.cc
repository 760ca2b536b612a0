#include "trainer/checkpoint/async_writer.h"

#include <exception>
#include <utility>

namespace trainyard {

AsyncCheckpointWriter::AsyncCheckpointWriter(Checkpointer& checkpointer)
    : checkpointer_(checkpointer), thread_([this] { Run(); }) {}

AsyncCheckpointWriter::~AsyncCheckpointWriter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

absl::Status AsyncCheckpointWriter::TakeResult() {
  return std::exchange(result_, absl::OkStatus());
}

absl::Status AsyncCheckpointWriter::Save(const Checkpoint& checkpoint) {
  absl::Status earlier;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !pending_; });
    earlier = TakeResult();
  }
  // The thread is idle now, so nobody else uses the buffers.
  const absl::Status taken = snapshot_.Take(checkpoint, checkpointer_.share());
  if (!taken.ok()) return taken;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    pending_ = true;
  }
  changed_.notify_all();
  return earlier;
}

absl::Status AsyncCheckpointWriter::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !pending_; });
  return TakeResult();
}

bool AsyncCheckpointWriter::busy() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return pending_;
}

void AsyncCheckpointWriter::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return pending_ || stopping_; });
    if (!pending_) return;
    lock.unlock();
    absl::Status saved;
    try {
      saved = checkpointer_.Save(snapshot_.checkpoint());
    } catch (const std::exception& error) {
      saved = absl::InternalError(error.what());
    }
    lock.lock();
    result_ = std::move(saved);
    pending_ = false;
    changed_.notify_all();
  }
}

}  // namespace trainyard
