#include "tools/launch/rank_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace trainyard {
namespace {

// A full disk or a closed terminal must not end the training.
void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

RankOutput::RankOutput(int rank, const std::string& log_file, int merged_output,
                       int merged_error)
    : prefix_("[" + std::to_string(rank) + "] "), log_file_(log_file) {
  halves_[kOutput].merged = merged_output;
  halves_[kError].merged = merged_error;
  log_ =
      open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log_ < 0) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot write the log " + log_file);
  }
}

RankOutput::~RankOutput() { close(log_); }

void RankOutput::Add(Stream stream, std::string_view text) {
  WriteAll(log_, text);
  Half& half = halves_[stream];
  for (size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n')) {
    half.line.append(text.substr(0, end));
    WriteLine(half, half.line);
    half.line.clear();
    text.remove_prefix(end + 1);
  }
  half.line.append(text);
  if (half.line.size() > kLongestLine) {
    WriteLine(half, half.line);
    half.line.clear();
  }
}

void RankOutput::AddToLog(const std::string& line) {
  WriteAll(log_, line + "\n");
}

void RankOutput::Finish() {
  for (Half& half : halves_) {
    if (!half.line.empty()) WriteLine(half, half.line);
    half.line.clear();
  }
}

void RankOutput::WriteLine(Half& half, std::string_view line) {
  // In one write, so that lines of the two streams do not mix either.
  std::string whole = prefix_;
  whole.append(line).push_back('\n');
  WriteAll(half.merged, whole);
  half.last.emplace_back(line);
  if (half.last.size() > kLastLines) half.last.pop_front();
}

std::vector<std::string> RankOutput::LastLines() const {
  const Half& half = halves_[halves_[kError].last.empty() ? kOutput : kError];
  return {half.last.begin(), half.last.end()};
}

}  // namespace trainyard
