// RankCalls is the record that a rank left of its last calls to other ranks:
// a file that backends/processes/rank_record.h writes.
//
//   const std::vector<RankCalls> all = ReadRecords({"run/records"});
//   const std::vector<RankCalls> last = ChooseStart(all, /*run=*/"");
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_INSPECT_RANK_CALLS_H_
#define TRAINYARD_TOOLS_INSPECT_RANK_CALLS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

struct RecordedCall {
  int64_t number = 0;
  std::string what;
  // "Float [64, 10]"; empty: no tensor.
  std::string of;
  // "backends/ddp.cc:146".
  std::string at;
  // In seconds since 1970. Unset: it had not ended.
  double started = 0;
  std::optional<double> ended = std::nullopt;
  bool failed = false;

  // Whether the rank was in it when the record was written, or gave up.
  bool waits() const { return !ended || failed; }
};

struct RankCalls {
  std::string path;
  // Equal for all ranks of one start of a run.
  std::string run;
  int64_t attempt = 0;
  int64_t rank = 0;
  int64_t world_size = 0;
  std::string host;
  int64_t pid = 0;
  double written = 0;
  std::string why;
  // The calls of each thread by its name, in their order.
  std::map<std::string, std::vector<RecordedCall>> threads;
};

// "2026-01-31 12:00:00 UTC" of seconds since 1970.
std::string UtcTime(double seconds);

// Reads the records in these folders. Throws std::runtime_error with the folder
// or the file if there is no such folder, none has a record, or one cannot be
// read.
std::vector<RankCalls> ReadRecords(const std::vector<std::string>& folders);

// The records of one start, a rank each: of `run`, or of the last attempt if it
// is empty. Throws std::runtime_error with the runs that there are if the
// choice is not clear, or two records are of the same rank.
std::vector<RankCalls> ChooseStart(const std::vector<RankCalls>& records,
                                   const std::string& run);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_RANK_CALLS_H_
