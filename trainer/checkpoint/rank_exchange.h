// RankExchange connects the ranks of a run while they save or load one
// checkpoint together. Free of libtorch.
//
//   absl::StatusOr<std::vector<std::string>> all = ranks.AllGather("my part");
//
// A save may run on a background thread while the run trains, so an
// implementation needs a communicator of its own. Thread-compatible.
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
  // The rank that locks, commits and deletes in the folder that this rank
  // writes to: rank 0 if all ranks share one folder, the first rank of the node
  // if each node has its own.
  virtual int leader() const { return 0; }
  bool is_leader() const { return rank() == leader(); }

  // Returns what each rank passed, in rank order, or an error if a rank does
  // not call in time. Collective: all ranks must call it.
  virtual absl::StatusOr<std::vector<std::string>> AllGather(
      const std::string& mine) = 0;
};

// The exchange of a run with a single rank. Has no state.
RankExchange& SingleRank();

// The share of a checkpoint that one rank writes.
struct RankShare {
  // This rank among the ranks that write to the same folder, and their number.
  int rank = 0;
  int world_size = 1;
  // This rank among all ranks of the run. Names the files of its parts.
  int global_rank = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_RANK_EXCHANGE_H_
