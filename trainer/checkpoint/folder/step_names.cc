#include "trainer/checkpoint/folder/step_names.h"

#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <random>
#include <vector>

#include "trainer/io/crc32c.h"

namespace trainyard {
namespace {

constexpr std::string_view kStep = "step-";
constexpr std::string_view kTemporary = ".tmp-";
constexpr std::string_view kTrash = ".trash-";
constexpr size_t kUniqueDigits = 32;

std::string Digest(const std::string& text) {
  return absl::StrFormat("%08x", Crc32c(text.data(), text.size()));
}

bool IsHex(absl::string_view text, size_t digits) {
  return text.size() == digits &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

WriterId ThisWriter() {
  std::array<char, 256> host = {};
  gethostname(host.data(), host.size() - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  return {Digest(host.data()), Digest(boot), getpid()};
}

bool HasEnded(const WriterId& writer, const WriterId& self) {
  if (writer.host != self.host) return false;
  if (writer.boot != self.boot) return true;
  return kill(static_cast<pid_t>(writer.pid), 0) != 0 && errno == ESRCH;
}

std::string StepName(int64_t step) {
  return absl::StrFormat("step-%010d", step);
}

std::optional<int64_t> StepOfName(std::string_view name) {
  if (name.substr(0, kStep.size()) != kStep) return std::nullopt;
  const std::string_view digits = name.substr(kStep.size());
  int64_t step = 0;
  if (!absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()),
                        &step) ||
      step < 0 || StepName(step) != name) {
    return std::nullopt;
  }
  return step;
}

std::string TemporaryName(int64_t step, const WriterId& writer,
                          std::string_view unique) {
  return absl::StrCat(".tmp-", StepName(step), ".h", writer.host, ".b",
                      writer.boot, ".p", writer.pid, ".",
                      absl::string_view(unique.data(), unique.size()));
}

std::optional<WriterId> WriterOfName(std::string_view name) {
  if (name.substr(0, kTemporary.size()) != kTemporary) return std::nullopt;
  const std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(name.data() + kTemporary.size(),
                                       name.size() - kTemporary.size()),
                     '.');
  WriterId writer;
  if (parts.size() != 5 || !StepOfName(parts[0]).has_value() ||
      parts[1].substr(0, 1) != "h" || parts[2].substr(0, 1) != "b" ||
      parts[3].substr(0, 1) != "p" ||
      !absl::SimpleAtoi(parts[3].substr(1), &writer.pid) || writer.pid < 1 ||
      writer.pid > INT32_MAX) {
    return std::nullopt;
  }
  writer.host = parts[1].substr(1);
  writer.boot = parts[2].substr(1);
  if (!IsHex(writer.host, 8) || !IsHex(writer.boot, 8) ||
      !IsHex(parts[4], kUniqueDigits)) {
    return std::nullopt;
  }
  return writer;
}

std::string TrashName(std::string_view unique) {
  return absl::StrCat(".trash-",
                      absl::string_view(unique.data(), unique.size()));
}

bool IsTrashName(std::string_view name) {
  return name.substr(0, kTrash.size()) == kTrash &&
         IsHex(absl::string_view(name.data() + kTrash.size(),
                                 name.size() - kTrash.size()),
               kUniqueDigits);
}

std::string NewUuid() {
  std::random_device random;
  std::string bytes;
  while (bytes.size() < 16) bytes.push_back(static_cast<char>(random()));
  return bytes;
}

}  // namespace trainyard
