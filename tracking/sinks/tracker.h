// Tracker takes records from the training loop and writes them to its sinks on
// a thread of its own, so that the loop does not wait for files.
//
//   std::vector<std::unique_ptr<Sink>> sinks;
//   sinks.push_back(MakeJsonLines(folder + "/metrics.jsonl"));
//   Tracker tracker(std::move(sinks));
//   tracker.Add(10, tracking::Row{{"loss", 0.5}, {"lr", 0.001}});
//   tracker.Flush();
//
// Add takes a lock and moves the record into a bounded queue. Nothing is
// dropped: Add waits while the queue is full. Records reach the operating
// system within a fraction of a second, and at the latest after Flush or when
// the tracker is destroyed.
//
// A sink that fails (a full disk) gets no more records, and the run continues:
// see error().
//
// Thread-safe.
#ifndef TRAINYARD_TRACKING_SINKS_TRACKER_H_
#define TRAINYARD_TRACKING_SINKS_TRACKER_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tracking/sinks/record.h"
#include "tracking/sinks/sink.h"

namespace trainyard {

struct TrackerOptions {
  // Records that may wait to be written. REQUIRES: >= 1.
  size_t capacity = 65536;
  // How often waiting records are written.
  std::chrono::milliseconds write_every{200};
  // Seconds since 1970.
  std::function<double()> clock = nullptr;
};

class Tracker {
 public:
  // By sink name; saved in checkpoints.
  using Positions = std::map<std::string, int64_t>;

  // Throws std::invalid_argument for an invalid option, naming it, and for two
  // sinks of one name.
  explicit Tracker(std::vector<std::unique_ptr<Sink>> sinks,
                   TrackerOptions options = {});
  ~Tracker();

  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;

  // Throws std::invalid_argument for a row with the name "step" or "time".
  void Add(int64_t step, decltype(tracking::Record::what) what);

  // Starts a run: resumed at the positions of a checkpoint, or a new one if
  // there are none. The first record starts a new run if Start was not called.
  void Start(const Positions& positions = {});

  // Waits until everything that was added is with the operating system.
  void Flush();
  // Waits until it is on the disk. Empty if no run was started.
  Positions Save();

  // The error of the first sink that failed; "" if none did.
  std::string error() const;
  // How often Add had to wait for the queue.
  int64_t waits() const;

 private:
  struct Output {
    std::unique_ptr<Sink> sink;
    bool failed = false;
  };

  void Loop();
  // Runs the task on the writing thread, after the records added so far, and
  // waits for it.
  void Do(std::function<void()> task);
  // These run on the writing thread.
  void Each(const std::function<void(Sink&)>& act);
  void Open(const Positions& positions);
  void Write(const std::vector<tracking::Record>& records);

  const TrackerOptions options_;
  std::vector<Output> outputs_;
  bool open_ = false;

  mutable std::mutex mutex_;
  std::condition_variable wake_;   // of the writing thread
  std::condition_variable space_;  // of callers that wait for the queue
  std::condition_variable done_;   // of callers that wait for a task
  std::vector<tracking::Record> queue_;
  std::vector<std::function<void()>> tasks_;
  int64_t tasks_added_ = 0;
  int64_t tasks_done_ = 0;
  int64_t waits_ = 0;
  std::string error_;
  bool stop_ = false;

  std::thread thread_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_TRACKER_H_
