// ProgressDisplay shows passes over data, one at a time: on a terminal as one
// line that is redrawn, in a file or pipe as a few plain lines without control
// characters.
//
//   ProgressDisplay display;
//   display.Begin("Epoch 1/5", /*done=*/0, /*total=*/469);
//   for (...) {
//     if (display.Count(/*samples=*/128)) display.Show({{"loss", Read(loss)}});
//   }
//   display.Finish({{"loss", mean}});
//
// A pass may begin within another, which goes on when it ends: the inner one is
// shown, and its time is not counted as the outer one's.
//
// Count costs one look at the clock, so that it may be called at every step.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_PRINTING_PROGRESS_DISPLAY_H_
#define TRAINYARD_CALLBACKS_PRINTING_PROGRESS_DISPLAY_H_

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "callbacks/clock.h"
#include "callbacks/printing/progress_line.h"

namespace trainyard {

struct ProgressDisplayOptions {
  // Borrowed. Errors by default, so that results can be piped without it.
  std::FILE* output = stderr;
  // Draws a bar even where no terminal is recognised.
  bool force_terminal = false;
  // Leaves the finished bar of every pass on the terminal: for runs whose
  // epochs nothing else prints.
  bool keep = false;
  // On a terminal: seconds between two drawings, at least. REQUIRES: >= 0.
  double redraw_seconds = 0.1;
  // Elsewhere: seconds between two lines of one pass, at least. There are no
  // more than ten, and always the last. REQUIRES: >= 0.
  double line_seconds = 10;
  SecondsClock clock = SteadySeconds;
};

class ProgressDisplay {
 public:
  // By name, the most important first.
  using Values = std::vector<std::pair<std::string, double>>;

  // Throws std::invalid_argument, which names the option, for a bad one.
  explicit ProgressDisplay(ProgressDisplayOptions options = {});

  // Begins a pass of `total` batches (unset: unknown), `done` of which were
  // done earlier, within the current one if there is one.
  void Begin(std::string label, int64_t done, std::optional<int64_t> total);

  // Counts a batch. Returns whether it is time to Show.
  bool Count(int64_t samples);

  void Show(Values values);

  // The pass came to its end: clears the terminal's line, or keeps it if asked
  // to.
  void Finish(Values values);

  // All passes end here, before their end. Does nothing if there is none.
  void Leave();

 private:
  struct Pass {
    ProgressLine line;
    double start = 0;
    int64_t samples = 0;
    // Where there is no terminal: from which batch and moment on the next line
    // is due.
    int64_t next_line_batch = 0;
    double next_line = 0;
  };

  void SetNextLine(Pass& pass, double now) const;
  static void Measure(Pass& pass, double now);
  void Draw(Pass& pass, double now);
  // Ends the innermost pass.
  void End();

  ProgressDisplayOptions options_;
  bool terminal_;
  bool utf8_;
  // The innermost last.
  std::vector<Pass> passes_;
  // On a terminal: when to draw again, and whether a bar stands there.
  double next_draw_ = -1e300;
  bool drawn_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_PROGRESS_DISPLAY_H_
