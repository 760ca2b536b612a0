#include "callbacks/printing/progress_display.h"

#include <stdexcept>

#include "callbacks/printing/terminal.h"

namespace trainyard {
namespace {

constexpr int64_t kLinesPerPass = 10;

void Check(const ProgressDisplayOptions& options) {
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument("ProgressBar: " + what);
  };
  if (options.output == nullptr) refuse("output is null");
  if (options.clock == nullptr) refuse("clock is empty");
  if (!(options.redraw_seconds >= 0)) {
    refuse("redraw_seconds is " + std::to_string(options.redraw_seconds) +
           "; it must not be negative");
  }
  if (!(options.line_seconds >= 0)) {
    refuse("line_seconds is " + std::to_string(options.line_seconds) +
           "; it must not be negative");
  }
}

void PrintLine(std::FILE* output, const ProgressLine& line) {
  std::fprintf(output, "%s\n", DescribeProgress(line).c_str());
  std::fflush(output);
}

}  // namespace

ProgressDisplay::ProgressDisplay(ProgressDisplayOptions options)
    : options_(std::move(options)) {
  Check(options_);
  terminal_ = options_.force_terminal || IsTerminal(options_.output);
  utf8_ = EnvironmentIsUtf8();
}

void ProgressDisplay::Begin(std::string label, int64_t done,
                            std::optional<int64_t> total) {
  const double now = options_.clock();
  Pass& pass = passes_.emplace_back();
  pass.line = {
      .label = std::move(label), .done = done, .total = total, .timed = 0};
  pass.start = now;
  SetNextLine(pass, now);
  // At once, so that the wait for the first batch is seen to be one.
  if (terminal_ && now >= next_draw_) Draw(pass, now);
}

bool ProgressDisplay::Count(int64_t samples) {
  if (passes_.empty()) return false;
  Pass& pass = passes_.back();
  ProgressLine& line = pass.line;
  ++line.done;
  ++line.timed;
  pass.samples += samples;
  if (terminal_) return options_.clock() >= next_draw_;
  return line.done >= pass.next_line_batch &&
         (!line.total || line.done < *line.total) &&
         options_.clock() >= pass.next_line;
}

void ProgressDisplay::Show(Values values) {
  if (passes_.empty()) return;
  Pass& pass = passes_.back();
  pass.line.values = std::move(values);
  const double now = options_.clock();
  if (terminal_) {
    Draw(pass, now);
  } else {
    Measure(pass, now);
    PrintLine(options_.output, pass.line);
    SetNextLine(pass, now);
  }
}

void ProgressDisplay::Finish(Values values) {
  if (passes_.empty()) return;
  passes_.back().line.values = std::move(values);
  End();
}

void ProgressDisplay::Leave() {
  while (!passes_.empty()) End();
}

void ProgressDisplay::SetNextLine(Pass& pass, double now) const {
  const ProgressLine& line = pass.line;
  pass.next_line = now + options_.line_seconds;
  if (!line.total) {
    pass.next_line_batch = line.done + 1;
    return;
  }
  // The next tenth of the pass, rounded up.
  const int64_t total = *line.total;
  const int64_t tenth = total > 0 ? line.done * kLinesPerPass / total + 1 : 1;
  pass.next_line_batch = (tenth * total + kLinesPerPass - 1) / kLinesPerPass;
}

void ProgressDisplay::Measure(Pass& pass, double now) {
  ProgressLine& line = pass.line;
  line.seconds = now - pass.start;
  line.samples_per_second =
      line.seconds > 0 ? static_cast<double>(pass.samples) / line.seconds : 0;
}

void ProgressDisplay::Draw(Pass& pass, double now) {
  Measure(pass, now);
  // Three columns stay free: writing in the last one moves some terminals to a
  // new line, and so would the ^C that they show before the run ends.
  const std::string bar = DrawBar(
      pass.line, {.width = TerminalWidth(options_.output) - 3, .utf8 = utf8_});
  std::fprintf(options_.output, "\r%s\x1b[K", bar.c_str());
  std::fflush(options_.output);
  next_draw_ = now + options_.redraw_seconds;
  drawn_ = true;
}

void ProgressDisplay::End() {
  const double now = options_.clock();
  Pass pass = std::move(passes_.back());
  passes_.pop_back();
  Measure(pass, now);
  if (!passes_.empty()) passes_.back().start += pass.line.seconds;

  if (!terminal_) {
    PrintLine(options_.output, pass.line);
    return;
  }
  if (options_.keep) {
    Draw(pass, now);
    std::fputs("\n", options_.output);
  } else if (drawn_) {
    std::fputs("\r\x1b[K", options_.output);
  }
  std::fflush(options_.output);
  drawn_ = false;
}

}  // namespace trainyard
