// AsyncCheckpointWriter saves while training continues: Save copies the tensors
// into buffers of its own and returns, and a thread passes the copy to the
// checkpointer.
//
//   AsyncCheckpointWriter writer(*store);
//   absl::Status earlier = writer.Save(checkpoint);  // result of the last save
//   absl::Status last = writer.Wait();               // before the run ends
//
// At most one save is in flight, and one copy of this rank's share is kept. An
// error is returned once, by the next call. The destructor waits too, but
// cannot report an error: call Wait.
//
// Thread-compatible. Nobody else may use the checkpointer while a save is in
// flight.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_ASYNC_WRITER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_ASYNC_WRITER_H_

#include <absl/status/status.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/checkpointer.h"
#include "trainer/checkpoint/parts/snapshot.h"

namespace trainyard {

class AsyncCheckpointWriter {
 public:
  // The checkpointer must outlive the writer.
  explicit AsyncCheckpointWriter(Checkpointer& checkpointer);
  ~AsyncCheckpointWriter();

  AsyncCheckpointWriter(const AsyncCheckpointWriter&) = delete;
  AsyncCheckpointWriter& operator=(const AsyncCheckpointWriter&) = delete;

  // Waits for the save in flight, copies the checkpoint and starts to save it.
  // The tensors may change once it returns. Returns the error of the earlier
  // save, if it failed; the new save is started all the same. Returns
  // ResourceExhausted if there is no memory for the copy.
  absl::Status Save(const Checkpoint& checkpoint);

  // Waits for the save in flight and returns its result, unless an earlier call
  // has returned it.
  absl::Status Wait();

  // Whether a save is in flight.
  bool busy() const;

 private:
  void Run();
  absl::Status TakeResult();

  Checkpointer& checkpointer_;
  Snapshot snapshot_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool pending_ = false;  // from Save until it is written
  bool stopping_ = false;
  absl::Status result_;
  std::thread thread_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_ASYNC_WRITER_H_
