#include "backends/processes/rank_record.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <system_error>

#include "trainer/io/atomic_file.h"
#include "trainer/io/json_writer.h"

namespace trainyard {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

// How often the watching thread looks.
constexpr milliseconds kLook(200);

// A signal handler can reach nothing but globals: how often SIGQUIT came.
std::atomic<int> times_asked = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void Ask(int) { times_asked.fetch_add(1); }

std::optional<std::string> Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt
                                            : std::optional<std::string>(value);
}

double Seconds(LoggedCall::Time time) {
  // To the microsecond: a double holds no more.
  return static_cast<double>(
             std::chrono::duration_cast<std::chrono::microseconds>(
                 time.time_since_epoch())
                 .count()) /
         1e6;
}

std::string HostName() {
  std::array<char, 256> name = {};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

void WriteCall(const LoggedCall& call, JsonWriter& json) {
  json.BeginObject();
  json.Key("number").Int(call.number);
  json.Key("what").String(call.subject.what);
  json.Key("of").String(DescribeTensor(call.subject));
  json.Key("at").String(std::string(call.place.file_name()) + ":" +
                        std::to_string(call.place.line()));
  json.Key("started").Number(Seconds(call.started));
  json.Key("ended");
  if (call.ended == LoggedCall::Time()) {
    json.Null();
  } else {
    json.Number(Seconds(call.ended));
  }
  json.Key("failed").Bool(call.failed);
  json.EndObject();
}

}  // namespace

// Counts SIGQUIT for as long as any object of it exists.
class RankRecord::QuitSignal {
 public:
  QuitSignal() {
    const std::lock_guard lock(Shared().mutex);
    if (Shared().users++ > 0) return;
    struct sigaction action = {};
    sigaction(SIGQUIT, nullptr, &Shared().old);
    if (Shared().old.sa_handler != SIG_DFL) return;
    action.sa_handler = Ask;
    action.sa_flags = SA_RESTART;
    Shared().installed = sigaction(SIGQUIT, &action, nullptr) == 0;
  }
  ~QuitSignal() {
    const std::lock_guard lock(Shared().mutex);
    if (--Shared().users > 0 || !Shared().installed) return;
    sigaction(SIGQUIT, &Shared().old, nullptr);
    Shared().installed = false;
  }
  QuitSignal(const QuitSignal&) = delete;
  QuitSignal& operator=(const QuitSignal&) = delete;

 private:
  struct State {
    std::mutex mutex;
    int users = 0;
    bool installed = false;
    struct sigaction old = {};
  };
  static State& Shared() {
    static State state;
    return state;
  }
};

RankRecord::RankRecord(const RankRecordOptions& options) : options_(options) {
  const auto variable = options.variables
                            ? options.variables
                            : RankRecordOptions::Variables(Variable);
  const auto fixed = variable("TRAINYARD_RECORD_DIR");
  folder_is_fixed_ = fixed.has_value();
  folder_ = fixed.value_or(variable("TRAINYARD_LOG_DIR").value_or(""));
}

RankRecord::~RankRecord() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ending_.notify_all();
  if (watcher_.joinable()) watcher_.join();
  if (written_.empty() || failed_ || asked_) return;
  std::error_code ignored;
  std::filesystem::remove(written_, ignored);
  // Only if it is empty.
  if (!made_.empty()) std::filesystem::remove(made_, ignored);
}

CallLog& RankRecord::AddThread(const std::string& name) {
  const std::lock_guard lock(mutex_);
  CallLog& log = logs_.emplace_back(name);
  StartWatching();
  return log;
}

void RankRecord::SetFolder(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  if (folder_is_fixed_) return;
  folder_ = folder;
  StartWatching();
}

void RankRecord::StartWatching() {
  if (watcher_.joinable() || folder_.empty() || logs_.empty()) return;
  signal_ = std::make_unique<QuitSignal>();
  watcher_ = std::thread([this, asked = times_asked.load()]() mutable {
    std::unique_lock lock(mutex_);
    const CallLog& main = logs_.front();
    bool told = false;
    while (!ending_.wait_for(lock, std::min(kLook, options_.quiet),
                             [this] { return end_; })) {
      if (failed_) continue;
      const bool quiet = main.Quiet() >= options_.quiet;
      if (const int now = times_asked.load(); now != asked) {
        asked = now;
        asked_ = Write("SIGQUIT asked for it");
      } else if (quiet && !told) {
        Write("the main thread has not begun or ended a call for " +
              std::to_string(options_.quiet.count()) + " ms");
      }
      told = quiet;
    }
  });
}

std::string RankRecord::WriteFailure(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (failed_ || folder_.empty()) return "";
  failed_ = Write(why);
  return failed_ ? written_ : "";
}

std::string RankRecord::Path() const {
  return folder_ + "/calls-start" + std::to_string(options_.attempt) + "-rank" +
         std::to_string(options_.rank) + ".json";
}

bool RankRecord::Write(const std::string& why) {
  const std::string path = Path();
  std::string problem;
  try {
    if (std::filesystem::create_directories(folder_)) made_ = folder_;
    const absl::Status status = WriteFileAtomically(path, Text(why));
    problem = status.ok() ? "" : std::string(status.message());
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (problem.empty()) {
    written_ = path;
    return true;
  }
  std::fprintf(stderr, "the record of the last calls is not written: %s\n",
               problem.c_str());
  return false;
}

std::string RankRecord::Text(const std::string& why) const {
  JsonWriter json(JsonWriter::Layout::kLines);
  json.BeginObject();
  json.Key("run").String(options_.run);
  json.Key("attempt").Int(options_.attempt);
  json.Key("rank").Int(options_.rank);
  json.Key("world_size").Int(options_.world_size);
  json.Key("host").String(HostName());
  json.Key("pid").Int(getpid());
  json.Key("written").Number(Seconds(system_clock::now()));
  json.Key("why").String(why);
  json.Key("threads").BeginArray();
  for (const CallLog& log : logs_) {
    json.BeginObject();
    json.Key("name").String(log.thread());
    json.Key("calls").BeginArray();
    for (const LoggedCall& call : log.Read()) WriteCall(call, json);
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace trainyard
