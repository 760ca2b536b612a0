// RankEnvironment gives the variables that tell a rank its place: those of
// torchrun, and some of our own.
//
//   RankEnvironment({.nproc = 2}, {.world_size = 2}, 1, std::nullopt).at("RANK")
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_LAUNCH_RANK_ENVIRONMENT_H_
#define TRAINYARD_TOOLS_LAUNCH_RANK_ENVIRONMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tools/launch/launch_options.h"

namespace trainyard {

// The place of this host's ranks in one start of all ranks.
struct RankPlan {
  int first_rank = 0;
  int world_size = 1;
  // Where rank 0 serves the store.
  std::string address = "127.0.0.1";
  int port = 0;
  // How often all ranks were restarted, and the number of this start. The
  // second grows also when launchers are started anew.
  int restarts = 0;
  int64_t generation = 0;
};

// `store_fd`: the listening socket that the rank inherits.
std::map<std::string, std::string> RankEnvironment(const LaunchOptions& options,
                                                   const RankPlan& plan,
                                                   int local_rank,
                                                   std::optional<int> store_fd);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_RANK_ENVIRONMENT_H_
