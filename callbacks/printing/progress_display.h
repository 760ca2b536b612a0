// ProgressDisplay shows passes over data, one at a time: on a terminal as one
// line that is redrawn, in a file or pipe as a few plain lines without control
// characters.
//
//   ProgressDisplay display;
//   display.Begin("Epoch 1/5", /*done=*/0, /*total=*/469);
//   if (display.Count(/*samples=*/128)) display.Show({{"loss", 0.5}});
//   display.Finish({{"loss", 0.5}});
//
// A pass may begin within another: the inner one is shown until it ends, and
// its time does not count for the outer one.
//
// Count reads the clock once, so that it can be called at every step.
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
  // Borrowed. By default standard error, so that standard output can be piped.
  std::FILE* output = stderr;
  // Draws a bar even if the output is not a terminal.
  bool force_terminal = false;
  // Leaves the finished bar of every pass on the terminal.
  bool keep = false;
  // On a terminal: the least number of seconds between two drawings.
  // REQUIRES: >= 0.
  double redraw_seconds = 0.1;
  // Elsewhere: the least number of seconds between two lines of a pass. A pass
  // has at most ten lines, and always the last. REQUIRES: >= 0.
  double line_seconds = 10;
  // Of a ProgressBar: shows it on every rank, and not only on local rank 0 of
  // each machine.
  bool every_rank = false;
  SecondsClock clock = SteadySeconds;
};

class ProgressDisplay {
 public:
  // By name, the most important first.
  using Values = std::vector<std::pair<std::string, double>>;

  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit ProgressDisplay(ProgressDisplayOptions options = {});

  // Begins a pass of `total` batches (unset: unknown), of which `done` were
  // done before. If there is a current pass, the new one is within it.
  void Begin(std::string label, int64_t done, std::optional<int64_t> total);

  // Counts a batch. Returns whether it is time to Show.
  bool Count(int64_t samples);

  void Show(Values values);

  // Ends the pass at its last batch: clears the line, or keeps it (`keep`).
  void Finish(Values values);

  // Ends all passes before their last batch. Does nothing if there is none.
  void Leave();

 private:
  struct Pass {
    ProgressLine line;
    double start = 0;
    int64_t samples = 0;
    // Without a terminal: the next line is due at this batch and this time.
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
  // On a terminal: when to draw again, and whether a bar is shown now.
  double next_draw_ = -1e300;
  bool drawn_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_PROGRESS_DISPLAY_H_
