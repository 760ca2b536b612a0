// RankRecord writes the last calls of a rank (CallLog) to a file, from which
// tools/inspect:hang reads who waited for whom. Free of libtorch.
//
//   RankRecord record({.rank = 0, .world_size = 2, .run = "n1:29500"});
//   record.SetFolder("run/records");
//   CallLog& log = record.AddThread("main");
//   …
//   record.WriteFailure("AllReduce: rank 1 does not answer");
//
// It writes FOLDER/calls-start0-rank0.json
//
//   - when WriteFailure says that a wait has failed; the first time counts,
//   - while the main thread has made no call for `quiet`: a rank that hangs in
//     its own code, or waits, leaves its record before it is killed,
//   - after SIGQUIT, unless the program has a handler of its own for it.
//
// The last two are done by a thread of its own; the signal handler only counts.
// A record that nothing bad followed is deleted at the end. The folder is
// TRAINYARD_RECORD_DIR, else that of SetFolder, else TRAINYARD_LOG_DIR, which
// tools/launch sets; without any nothing is written. Thread-safe.
#ifndef TRAINYARD_BACKENDS_PROCESSES_RANK_RECORD_H_
#define TRAINYARD_BACKENDS_PROCESSES_RANK_RECORD_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "backends/processes/call_log.h"

namespace trainyard {

struct RankRecordOptions {
  using Variables = std::function<std::optional<std::string>(const char*)>;

  int64_t rank = 0;
  int64_t world_size = 1;
  // How often the run was restarted before.
  int64_t attempt = 0;
  // Equal on all ranks of one start, and on no other: where the store is.
  std::string run = {};
  std::chrono::milliseconds quiet = std::chrono::minutes(1);
  // The environment, unless given.
  Variables variables = {};
};

class RankRecord {
 public:
  explicit RankRecord(const RankRecordOptions& options);
  ~RankRecord();
  RankRecord(const RankRecord&) = delete;
  RankRecord& operator=(const RankRecord&) = delete;

  // A log of the calls of a thread; the first one is the main thread's. It
  // lives as long as the record.
  CallLog& AddThread(const std::string& name);

  // Where to write, unless TRAINYARD_RECORD_DIR says so. The folder is made
  // when it is needed.
  void SetFolder(const std::string& folder);

  // Returns the path of the file; empty if none was written. Does not throw: a
  // file that cannot be written is a line on standard error.
  std::string WriteFailure(const std::string& why);

 private:
  class QuitSignal;

  // All REQUIRE: the mutex is held.
  void StartWatching();
  bool Write(const std::string& why);
  std::string Path() const;
  std::string Text(const std::string& why) const;

  const RankRecordOptions options_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool end_ = false;
  bool folder_is_fixed_ = false;
  std::string folder_;
  std::deque<CallLog> logs_;
  // The file that was written last, and whether it stays.
  std::string written_;
  // The folder that this rank made, if it did.
  std::string made_;
  bool failed_ = false;
  bool asked_ = false;
  std::unique_ptr<QuitSignal> signal_;
  std::thread watcher_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_RANK_RECORD_H_
