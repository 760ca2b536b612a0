// RankEnvironment gives the variables by which a rank knows its place: those of
// torchrun, and TRAINYARD_STORE_FD, TRAINYARD_RESTART_COUNT.
//
//   RankEnvironment(options, 1, 29500, -1, 0).at("RANK")  // "1"
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_LAUNCH_RANK_ENVIRONMENT_H_
#define TRAINYARD_TOOLS_LAUNCH_RANK_ENVIRONMENT_H_

#include <map>
#include <string>

#include "tools/launch/launch_options.h"

namespace trainyard {

// `store_fd`: the listening socket that the rank inherits; -1: none.
std::map<std::string, std::string> RankEnvironment(const LaunchOptions& options,
                                                   int local_rank,
                                                   int master_port,
                                                   int store_fd, int restarts);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_RANK_ENVIRONMENT_H_
