// RankEnvironment gives the variables that tell a rank its place: those of
// torchrun, and TRAINYARD_STORE_FD and TRAINYARD_RESTART_COUNT.
//
//   RankEnvironment(options, 1, 29500, std::nullopt, 0).at("RANK")  // "1"
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_LAUNCH_RANK_ENVIRONMENT_H_
#define TRAINYARD_TOOLS_LAUNCH_RANK_ENVIRONMENT_H_

#include <map>
#include <optional>
#include <string>

#include "tools/launch/launch_options.h"

namespace trainyard {

// `store_fd`: the listening socket that the rank inherits.
std::map<std::string, std::string> RankEnvironment(const LaunchOptions& options,
                                                   int local_rank,
                                                   int master_port,
                                                   std::optional<int> store_fd,
                                                   int restarts);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_RANK_ENVIRONMENT_H_
