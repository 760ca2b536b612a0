// ProgressLine is the state of a pass over data. It is shown as a bar of a
// given width, or as a plain line for a log.
//
//   const ProgressLine line{.label = "Epoch 2/5", .done = 203, .total = 469,
//                           .seconds = 3.2, .samples_per_second = 8200,
//                           .values = {{"loss", 0.4123}}};
//   DrawBar(line, {.width = 74});
//   DescribeProgress(line);
//
//   Epoch 2/5  43% |███▍    |  203/469  8.20k samples/s  ETA 0:04  loss 0.4123
//   Epoch 2/5: 203/469 batches (43%), 8.20k samples/s, ETA 0:04, loss 0.4123
//
// Thread-safe: value types.
#ifndef TRAINYARD_CALLBACKS_PRINTING_PROGRESS_LINE_H_
#define TRAINYARD_CALLBACKS_PRINTING_PROGRESS_LINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

struct ProgressLine {
  std::string label;
  // Batches.
  int64_t done = 0;
  // Unset: unknown.
  std::optional<int64_t> total = 0;
  // Since the start of the pass.
  double seconds = 0;
  // How many of `done` were done in those seconds; fewer in a resumed pass.
  // Negative: all.
  int64_t timed = -1;
  // 0 while it is unknown.
  double samples_per_second = 0;
  // By name, the most important first.
  std::vector<std::pair<std::string, double>> values = {};
};

struct BarStyle {
  // The largest number of columns.
  int width = 80;
  // Bars in eighths of a column. Otherwise plain ASCII.
  bool utf8 = true;
};

// At most `width` columns: parts that do not fit are left out, the least
// important first.
std::string DrawBar(const ProgressLine& line, const BarStyle& style);

// One line without an end of line.
std::string DescribeProgress(const ProgressLine& line);

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_PROGRESS_LINE_H_
