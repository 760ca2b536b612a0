#include "callbacks/display/progress_display.h"

#include <stdexcept>

#include "callbacks/display/terminal.h"

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

}  // namespace

ProgressDisplay::ProgressDisplay(ProgressDisplayOptions options)
    : options_(std::move(options)) {
  Check(options_);
  terminal_ = options_.force_terminal || IsTerminal(options_.output);
  utf8_ = EnvironmentIsUtf8();
}

void ProgressDisplay::Begin(std::string label, int64_t done, int64_t total) {
  Leave();
  const double now = options_.clock();
  line_ = {.label = std::move(label), .done = done, .total = total, .timed = 0};
  start_ = now;
  samples_ = 0;
  running_ = true;
  SetNextLine(now);
  // At once, so that the wait for the first batch is seen to be one.
  if (terminal_ && now >= next_draw_) Draw(now);
}

bool ProgressDisplay::Count(int64_t samples) {
  ++line_.done;
  ++line_.timed;
  samples_ += samples;
  if (terminal_) return options_.clock() >= next_draw_;
  return line_.done >= next_line_batch_ && line_.done < line_.total &&
         options_.clock() >= next_line_;
}

void ProgressDisplay::Show(Values values) {
  line_.values = std::move(values);
  const double now = options_.clock();
  if (terminal_) {
    Draw(now);
  } else {
    Measure(now);
    EndLine();
    SetNextLine(now);
  }
}

void ProgressDisplay::Finish(Values values) {
  if (!running_) return;
  running_ = false;
  line_.values = std::move(values);
  Measure(options_.clock());
  EndLine();
}

void ProgressDisplay::Leave() {
  if (!running_) return;
  running_ = false;
  Measure(options_.clock());
  EndLine();
}

void ProgressDisplay::SetNextLine(double now) {
  next_line_ = now + options_.line_seconds;
  // The next tenth of the pass, rounded up.
  const int64_t tenth =
      line_.total > 0 ? line_.done * kLinesPerPass / line_.total + 1 : 1;
  next_line_batch_ = (tenth * line_.total + kLinesPerPass - 1) / kLinesPerPass;
}

void ProgressDisplay::Measure(double now) {
  line_.seconds = now - start_;
  line_.samples_per_second =
      line_.seconds > 0 ? static_cast<double>(samples_) / line_.seconds : 0;
}

void ProgressDisplay::Draw(double now) {
  Measure(now);
  // The last column stays free: writing there moves some terminals to a new
  // line.
  const std::string bar = DrawBar(
      line_, {.width = TerminalWidth(options_.output) - 1, .utf8 = utf8_});
  std::fprintf(options_.output, "\r%s\x1b[K", bar.c_str());
  std::fflush(options_.output);
  next_draw_ = now + options_.redraw_seconds;
  drawn_ = true;
}

void ProgressDisplay::Erase() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", options_.output);
  std::fflush(options_.output);
  drawn_ = false;
}

void ProgressDisplay::EndLine() {
  if (!terminal_) {
    std::fprintf(options_.output, "%s\n", DescribeProgress(line_).c_str());
    std::fflush(options_.output);
  } else if (options_.keep) {
    Draw(options_.clock());
    std::fputs("\n", options_.output);
    std::fflush(options_.output);
    drawn_ = false;
  } else {
    Erase();
  }
}

}  // namespace trainyard
