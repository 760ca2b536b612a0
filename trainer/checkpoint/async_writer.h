// AsyncCheckpointWriter saves while training goes on: Save copies the tensors
// into buffers of its own and returns; a thread writes them to the store.
//
//   AsyncCheckpointWriter writer(*store);
//   absl::Status earlier = writer.Save(checkpoint);   // of the save before
//   …
//   absl::Status last = writer.Wait();                // before the run ends
//
// One save is in flight at most, and one copy is kept of what this process
// writes. An error is returned by the next call, once. The
// destructor waits too, but has nobody to tell: call Wait.
//
// Thread-compatible; the store is this object's as long as it lives.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_ASYNC_WRITER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_ASYNC_WRITER_H_

#include <absl/status/status.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/parts/snapshot.h"
#include "trainer/checkpoint/store.h"

namespace trainyard {

struct AsyncCheckpointWriterOptions {
  enum class Busy { kWait, kSkip };
  // What Save does while the save before is still being written. With several
  // processes only kWait: all must save the same steps.
  Busy when_busy = Busy::kWait;
};

class AsyncCheckpointWriter {
 public:
  // The store must outlive the writer.
  explicit AsyncCheckpointWriter(CheckpointStore& store,
                                 AsyncCheckpointWriterOptions options = {});
  ~AsyncCheckpointWriter();

  AsyncCheckpointWriter(const AsyncCheckpointWriter&) = delete;
  AsyncCheckpointWriter& operator=(const AsyncCheckpointWriter&) = delete;

  // When it returns, the checkpoint's tensors may change. The answer is that of
  // the save before, which may have failed, and this one is begun all the same.
  // Errors of copying are this one's.
  absl::Status Save(const Checkpoint& checkpoint);

  // Until all is on the disk. The answer is that of the last save, unless it
  // was given before.
  absl::Status Wait();

  // Whether a save is being written.
  bool busy() const;
  // Saves that were left out because of it.
  int64_t skipped() const { return skipped_; }

 private:
  void Run();
  absl::Status TakeResult();

  CheckpointStore& store_;
  AsyncCheckpointWriterOptions options_;
  Snapshot snapshot_;
  int64_t skipped_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool pending_ = false;  // from Save until it is written
  bool ends_ = false;
  absl::Status result_;
  std::thread thread_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_ASYNC_WRITER_H_
