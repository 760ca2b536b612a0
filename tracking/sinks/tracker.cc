#include "tracking/sinks/tracker.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace trainyard {
namespace {

double SecondsSince1970() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void CheckRow(const tracking::Row& row) {
  for (const auto& [name, value] : row) {
    if (name == "step" || name == "time") {
      throw std::invalid_argument("Tracker: a metric is called \"" + name +
                                  "\", which every row has of its own");
    }
  }
}

}  // namespace

Tracker::Tracker(std::vector<std::unique_ptr<Sink>> sinks,
                 TrackerOptions options)
    : options_(std::move(options)) {
  if (options_.capacity == 0) {
    throw std::invalid_argument("Tracker: capacity is 0");
  }
  std::set<std::string> names;
  for (auto& sink : sinks) {
    if (!names.insert(sink->name()).second) {
      throw std::invalid_argument("Tracker: two sinks are called \"" +
                                  sink->name() + "\"");
    }
    outputs_.push_back({.sink = std::move(sink)});
  }
  thread_ = std::thread([this] { Loop(); });
}

Tracker::~Tracker() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Tracker::Add(int64_t step, decltype(tracking::Record::what) what) {
  if (const tracking::Row* row = std::get_if<tracking::Row>(&what))
    CheckRow(*row);
  const double time = options_.clock ? options_.clock() : SecondsSince1970();
  std::unique_lock<std::mutex> lock(mutex_);
  if (queue_.size() >= options_.capacity) {
    ++waits_;
    wake_.notify_one();
    space_.wait(lock, [this] { return queue_.size() < options_.capacity; });
  }
  queue_.push_back({.step = step, .time = time, .what = std::move(what)});
  // Waking somebody is a system call: only when the queue gets full.
  if (queue_.size() == options_.capacity / 2) wake_.notify_one();
}

void Tracker::Start(const Positions& positions) {
  Do([this, &positions] { Open(positions); });
}

void Tracker::Flush() {
  Do([this] { Each([](Sink& sink) { sink.Flush(); }); });
}

Tracker::Positions Tracker::Save() {
  Positions positions;
  Do([this, &positions] {
    // Nothing was begun: nothing is touched.
    if (!open_) return;
    Each([&](Sink& sink) { positions[sink.name()] = sink.position(); });
  });
  return positions;
}

std::string Tracker::error() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

int64_t Tracker::waits() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return waits_;
}

void Tracker::Do(std::function<void()> task) {
  std::unique_lock<std::mutex> lock(mutex_);
  tasks_.push_back(std::move(task));
  const int64_t mine = ++tasks_added_;
  wake_.notify_one();
  done_.wait(lock, [&] { return tasks_done_ >= mine; });
}

void Tracker::Loop() {
  std::vector<tracking::Record> records;
  std::vector<std::function<void()>> tasks;
  std::unique_lock<std::mutex> lock(mutex_);
  for (bool stop = false; !stop;) {
    wake_.wait_for(lock, options_.write_every, [this] {
      return stop_ || !tasks_.empty() ||
             queue_.size() >= (options_.capacity + 1) / 2;
    });
    stop = stop_;
    records.swap(queue_);
    tasks.swap(tasks_);
    lock.unlock();
    space_.notify_all();

    Write(records);
    records.clear();
    for (const auto& task : tasks) task();

    lock.lock();
    tasks_done_ += static_cast<int64_t>(tasks.size());
    tasks.clear();
    done_.notify_all();
  }
}

void Tracker::Each(const std::function<void(Sink&)>& act) {
  for (Output& output : outputs_) {
    if (output.failed) continue;
    try {
      act(*output.sink);
    } catch (const std::exception& error) {
      output.failed = true;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (error_.empty()) error_ = error.what();
    }
  }
}

void Tracker::Open(const Positions& positions) {
  open_ = true;
  Each([&](Sink& sink) {
    const auto found = positions.find(sink.name());
    sink.Open(found == positions.end() ? 0 : found->second);
  });
}

void Tracker::Write(const std::vector<tracking::Record>& records) {
  if (records.empty()) return;
  if (!open_) Open({});
  Each([&](Sink& sink) {
    for (const tracking::Record& record : records) sink.Write(record);
    sink.Flush();
  });
}

}  // namespace trainyard
