// Messages of the launcher itself, on standard error.
//
//   Announce("a process does not end even when killed");
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_LAUNCH_ANNOUNCE_H_
#define TRAINYARD_TOOLS_LAUNCH_ANNOUNCE_H_

#include <string>

#include "tools/launch/rank_output.h"

namespace trainyard {

// Prints one line that begins with "launch: ".
void Announce(const std::string& line);

// Prints why the group failed: the rank, how it ended and its last lines.
void AnnounceFailure(int rank, const std::string& how,
                     const RankOutput& output);

// "SIGTERM".
std::string SignalName(int signal);
// Of a wait status: "ended with exit code 7", "was killed by SIGKILL
// (signal 9)".
std::string DescribeEnd(int status);
// "0.3 s".
std::string DescribeSeconds(double seconds);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_ANNOUNCE_H_
