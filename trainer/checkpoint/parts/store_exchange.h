// StoreExchange is the RankExchange of processes that share a c10d store. It
// uses no process group, so that a background thread may save while the group
// is busy with gradients.
//
//   StoreExchange ranks(store, rank, world_size);
//   auto checkpoints = CheckpointStore::Open(
//       {.directory = "run", .ranks = &ranks});
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PARTS_STORE_EXCHANGE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PARTS_STORE_EXCHANGE_H_

#include <absl/status/statusor.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/rank_exchange.h"

namespace c10d {
class Store;
}  // namespace c10d

namespace trainyard {

class StoreExchange final : public RankExchange {
 public:
  struct Options {
    // Two exchanges on one store need two names.
    std::string name = "checkpoint";
    // How long the slowest process may take to write its share.
    std::chrono::milliseconds timeout = std::chrono::minutes(10);
  };

  // REQUIRES: 0 <= rank < world_size.
  StoreExchange(c10::intrusive_ptr<c10d::Store> store, int rank, int world_size,
                Options options);
  StoreExchange(c10::intrusive_ptr<c10d::Store> store, int rank,
                int world_size);
  ~StoreExchange() override;

  int rank() const override { return rank_; }
  int world_size() const override { return world_size_; }

  // DeadlineExceeded, naming the process, if one does not come.
  absl::StatusOr<std::vector<std::string>> AllGather(
      const std::string& mine) override;

 private:
  std::string KeyOf(int64_t round, int rank) const;

  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  int world_size_;
  Options options_;
  int64_t round_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PARTS_STORE_EXCHANGE_H_
