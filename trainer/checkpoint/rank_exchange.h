// RankExchange is how the processes of a run tell each other what they wrote: a
// checkpoint that several write is there only when all have written their part.
// Free of libtorch.
//
//   absl::StatusOr<std::vector<std::string>> all = ranks.AllGather("my part");
//
// Saves may run in a background thread beside training: an implementation must
// not use the process group that training uses.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_RANK_EXCHANGE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_RANK_EXCHANGE_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

namespace trainyard {

class RankExchange {
 public:
  virtual ~RankExchange() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  // The rank that locks, commits and removes in this process's folder: 0 if all
  // processes share one; the first of its node if each node has its own.
  virtual int leader() const { return 0; }

  // What each gave, by rank. An error if another does not come in time.
  // Collective: all ranks must call it.
  virtual absl::StatusOr<std::vector<std::string>> AllGather(
      const std::string& mine) = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_RANK_EXCHANGE_H_
