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

#include "trainer/checkpoint/atomic_file.h"
#include "trainer/checkpoint/json_string.h"
#include "trainer/checkpoint/utf8.h"

namespace trainyard {
namespace {

// What is no UTF-8 (a file's name may be anything) cannot stand in JSON.
std::string Quoted(const std::string& text) {
  return JsonQuoted(ValidUtf8Prefix(text) == text.size() ? text
                                                         : "(not UTF-8)");
}

std::string ToJson(const RunInfo::Pairs& pairs) {
  std::string json = "{";
  for (const auto& [name, value] : pairs) {
    absl::StrAppend(&json, json.size() == 1 ? "" : ",", "\n    ", Quoted(name),
                    ": ", Quoted(value));
  }
  return json + (pairs.empty() ? "}" : "\n  }");
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
  return absl::StrCat(
      "{\n  \"started\": ", absl::StrFormat("%.3f", info.started),
      ",\n  \"resumed_at\": ", info.resumed_at,
      ",\n  \"command\": ", Quoted(info.command),
      ",\n  \"config\": ", ToJson(info.config),
      ",\n  \"environment\": ", ToJson(info.environment),
      ",\n  \"hooks\": ", Quoted(info.hooks), "\n}\n");
}

absl::Status WriteRunInfo(const RunInfo& info, const std::string& path) {
  const std::string json = ToJson(info);
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, json.size());
  if (!file.ok()) return file.status();
  const absl::Status appended = file->Append(json.data(), json.size());
  return appended.ok() ? file->Commit() : appended;
}

}  // namespace trainyard
