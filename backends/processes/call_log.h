// CallLog remembers the last calls by which one thread of a rank waits for the
// other ranks: what was called, on what, where in the code, and when. Free of
// libtorch.
//
//   CallLog log("main");
//   {
//     const CallLog::Scope call(log, {.what = "Barrier"}, place);
//     …  // waits
//   }
//   const std::vector<LoggedCall> calls = log.Read();
//
// Ranks that make the same calls give them the same numbers. A call within a
// call is a part of it and has no entry of its own. Entries are overwritten in
// turn: logging allocates nothing. Thread-safe, for calls of one thread at a
// time.
#ifndef TRAINYARD_BACKENDS_PROCESSES_CALL_LOG_H_
#define TRAINYARD_BACKENDS_PROCESSES_CALL_LOG_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <source_location>
#include <string>
#include <vector>

namespace trainyard {

// What is called. The texts must live as long as the program.
struct CallSubject {
  static constexpr size_t kMostSizes = 6;

  const char* what = "";
  // Of the tensor, if there is one: its type, and its first sizes.
  const char* type = nullptr;
  size_t dim = 0;
  std::array<int64_t, kMostSizes> sizes = {};
};

struct LoggedCall {
  using Time = std::chrono::system_clock::time_point;

  // From 1 on.
  int64_t number = 0;
  CallSubject subject = {};
  std::source_location place = {};
  Time started = {};
  // Unset (the epoch): it has not ended.
  Time ended = {};
  // It ended by an exception.
  bool failed = false;
};

class CallLog {
 public:
  // The number of calls that are kept.
  static constexpr size_t kKept = 64;

  // A call, from its construction to its destruction. Borrows the log.
  class Scope {
   public:
    Scope(CallLog& log, const CallSubject& subject,
          const std::source_location& place = std::source_location::current());
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    CallLog& log_;
    const int exceptions_;
  };

  explicit CallLog(std::string thread);

  // The name of the thread, equal on all ranks.
  const std::string& thread() const { return thread_; }

  // The calls that are kept, oldest first.
  std::vector<LoggedCall> Read() const;

  // How long ago the last call began or ended, or the log was made.
  std::chrono::steady_clock::duration Quiet() const;

 private:
  void Begin(const CallSubject& subject, const std::source_location& place);
  void End(bool failed);

  const std::string thread_;
  mutable std::mutex mutex_;
  std::array<LoggedCall, kKept> calls_;
  int64_t count_ = 0;
  int depth_ = 0;
  std::chrono::steady_clock::time_point last_;
};

// "Float [64, 10]"; empty without a tensor.
std::string DescribeTensor(const CallSubject& subject);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_CALL_LOG_H_
