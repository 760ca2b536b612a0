#include "tools/inspect/rank_calls.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "trainer/io/json_reader.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

void ReadCall(JsonReader& json, RecordedCall& call) {
  std::string key;
  json.BeginObject();
  while (json.NextKey(key)) {
    if (key == "number") {
      json.ReadInt64(call.number);
    } else if (key == "what") {
      json.ReadString(call.what);
    } else if (key == "of") {
      json.ReadString(call.of);
    } else if (key == "at") {
      json.ReadString(call.at);
    } else if (key == "started") {
      json.ReadDouble(call.started);
    } else if (key == "ended") {
      if (!json.ReadNull()) json.ReadDouble(call.ended.emplace());
    } else if (key == "failed") {
      json.ReadBool(call.failed);
    } else {
      json.Skip();
    }
  }
}

void ReadThread(JsonReader& json, RankCalls& record) {
  std::string key, name;
  std::vector<RecordedCall> calls;
  json.BeginObject();
  while (json.NextKey(key)) {
    if (key == "name") {
      json.ReadString(name);
    } else if (key == "calls") {
      json.BeginArray();
      while (json.NextItem()) ReadCall(json, calls.emplace_back());
    } else {
      json.Skip();
    }
  }
  record.threads[name] = std::move(calls);
}

RankCalls ReadRecord(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  RankCalls record{.path = path};
  JsonReader json(text);
  std::string key;
  json.BeginObject();
  while (json.NextKey(key)) {
    if (key == "run") {
      json.ReadString(record.run);
    } else if (key == "attempt") {
      json.ReadInt64(record.attempt);
    } else if (key == "rank") {
      json.ReadInt64(record.rank);
    } else if (key == "world_size") {
      json.ReadInt64(record.world_size);
    } else if (key == "host") {
      json.ReadString(record.host);
    } else if (key == "pid") {
      json.ReadInt64(record.pid);
    } else if (key == "written") {
      json.ReadDouble(record.written);
    } else if (key == "why") {
      json.ReadString(record.why);
    } else if (key == "threads") {
      json.BeginArray();
      while (json.NextItem()) ReadThread(json, record);
    } else {
      json.Skip();
    }
  }
  json.End();
  if (!json.ok()) {
    throw std::runtime_error(path + ": " +
                             std::string(json.status().message()));
  }
  if (record.rank < 0 || record.rank >= record.world_size) {
    throw std::runtime_error(path + ": rank " + std::to_string(record.rank) +
                             " of " + std::to_string(record.world_size) +
                             "; this is no record of a rank's calls");
  }
  return record;
}

bool IsRecord(const fs::path& path) {
  return path.extension() == ".json" &&
         path.filename().string().starts_with("calls-start");
}

using Start = std::tuple<int64_t, std::string>;  // attempt, run

Start StartOf(const RankCalls& record) { return {record.attempt, record.run}; }

// By start, when the last record was written.
using Starts = std::map<Start, double>;

std::string Describe(const Starts& starts) {
  std::string text;
  for (const auto& [start, written] : starts) {
    text += "\n  --run=" + std::get<1>(start) + " (attempt " +
            std::to_string(std::get<0>(start)) + ", until " + UtcTime(written) +
            ")";
  }
  return text;
}

Start Choose(const Starts& starts, const std::string& run) {
  std::set<Start> fitting;
  for (const auto& [start, written] : starts) {
    if (run.empty() || std::get<1>(start) == run) fitting.insert(start);
  }
  const std::string all = Describe(starts);
  if (fitting.empty()) {
    throw std::runtime_error("there is no record of the run " + run +
                             "; there are records of" + all);
  }
  const Start last = *fitting.rbegin();
  const auto same =
      std::count_if(fitting.begin(), fitting.end(), [&](const Start& start) {
        return std::get<0>(start) == std::get<0>(last);
      });
  if (same > 1) {
    throw std::runtime_error("the records are of several runs; choose one of" +
                             all);
  }
  return last;
}

}  // namespace

std::string UtcTime(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  gmtime_r(&time, &parts);
  char text[64];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

std::vector<RankCalls> ReadRecords(const std::vector<std::string>& folders) {
  std::vector<RankCalls> records;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(folder)) {
      throw std::runtime_error(folder + ": there is no such folder");
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (IsRecord(entry.path())) {
        records.push_back(ReadRecord(entry.path().string()));
      }
    }
  }
  if (records.empty()) {
    throw std::runtime_error(
        folders.front() +
        ": there is no record (calls-start0-rank0.json) here; ranks write them "
        "when a wait fails, to TRAINYARD_RECORD_DIR, to records/ in the run's "
        "folder of checkpoints, or to --log_dir of tools/launch");
  }
  return records;
}

std::vector<RankCalls> ChooseStart(const std::vector<RankCalls>& records,
                                   const std::string& run) {
  Starts starts;
  for (const RankCalls& record : records) {
    double& last = starts[StartOf(record)];
    last = std::max(last, record.written);
  }
  const Start chosen = Choose(starts, run);
  std::map<int64_t, RankCalls> by_rank;
  for (const RankCalls& record : records) {
    if (StartOf(record) != chosen) continue;
    const auto [place, added] = by_rank.emplace(record.rank, record);
    if (!added || record.world_size != by_rank.begin()->second.world_size) {
      throw std::runtime_error((added ? by_rank.begin() : place)->second.path +
                               " and " + record.path +
                               " cannot be of one run: " +
                               (added ? "the numbers of ranks differ"
                                      : "they are of the same rank"));
    }
  }
  std::vector<RankCalls> ordered;
  for (auto& [rank, record] : by_rank) ordered.push_back(std::move(record));
  return ordered;
}

}  // namespace trainyard
