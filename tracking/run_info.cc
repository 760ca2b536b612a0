#include "tracking/run_info.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "trainer/io/atomic_file.h"
#include "trainer/io/json_writer.h"

namespace trainyard {
namespace {

void Write(const RunInfo::Pairs& pairs, JsonWriter& json) {
  json.BeginObject();
  for (const auto& [name, value] : pairs) json.Key(name).String(value);
  json.EndObject();
}

std::string CommandLine() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string line;
  for (std::string word; std::getline(file, word, '\0');) {
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  return line;
}

}  // namespace

RunInfo RunInfoOfThisProcess() {
  RunInfo info;
  info.started = std::chrono::duration<double>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  info.command = CommandLine();
  utsname system = {};
  uname(&system);
  info.environment = {
      {"host", system.nodename},
      {"system",
       absl::StrCat(system.sysname, " ", system.release, " ", system.machine)},
      {"processors", absl::StrCat(std::thread::hardware_concurrency())},
      {"process", absl::StrCat(getpid())},
      {"compiler", __VERSION__}};
  return info;
}

std::string ToJson(const RunInfo& info) {
  JsonWriter json(JsonWriter::Layout::kLines);
  json.BeginObject();
  json.Key("started").Raw(absl::StrFormat("%.3f", info.started));
  json.Key("resumed_at").Int(info.resumed_at);
  json.Key("command").String(info.command);
  Write(info.config, json.Key("config"));
  Write(info.environment, json.Key("environment"));
  json.Key("hooks").String(info.hooks);
  json.EndObject();
  return json.text() + "\n";
}

absl::Status WriteRunInfo(const RunInfo& info, const std::string& path) {
  return WriteFileAtomically(path, ToJson(info));
}

}  // namespace trainyard
