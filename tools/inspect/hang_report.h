// PrintHang says which ranks waited in which call for which other ranks, by the
// records that they left.
//
//   PrintHang(ChooseStart(ReadRecords({folder}), ""), out);
//
// Thread-safe for different streams.
#ifndef TRAINYARD_TOOLS_INSPECT_HANG_REPORT_H_
#define TRAINYARD_TOOLS_INSPECT_HANG_REPORT_H_

#include <ostream>
#include <vector>

#include "tools/inspect/rank_calls.h"

namespace trainyard {

// REQUIRES: records of one start, at least one, at most one of a rank.
void PrintHang(const std::vector<RankCalls>& records, std::ostream& out);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_HANG_REPORT_H_
