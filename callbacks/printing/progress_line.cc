#include "callbacks/printing/progress_line.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "callbacks/printing/readable.h"

namespace trainyard {
namespace {

constexpr int kMinBar = 10;
// A longer bar shows no more.
constexpr int kMaxBar = 40;

double Fraction(const ProgressLine& line) {
  if (!line.total) return 0;
  if (*line.total <= 0) return 1;
  return std::clamp(
      static_cast<double>(line.done) / static_cast<double>(*line.total), 0.,
      1.);
}

// Rounded down, so that 100 means done.
std::string Percent(const ProgressLine& line) {
  return std::to_string(static_cast<int>(Fraction(line) * 100)) + "%";
}

std::string Time(const ProgressLine& line) {
  if (!line.total || line.done >= *line.total)
    return "in " + ReadableSeconds(line.seconds);
  const double timed =
      static_cast<double>(line.timed >= 0 ? line.timed : line.done);
  const double left = static_cast<double>(*line.total - line.done);
  return "ETA " + ReadableSeconds(timed > 0 ? line.seconds / timed * left : -1);
}

// Columns of a UTF-8 text without wide characters.
int Columns(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string Truncated(const std::string& text, int columns) {
  std::string kept;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (!continues && columns-- == 0) break;
    kept += c;
  }
  return kept;
}

std::string Bar(double fraction, int width, bool utf8) {
  const int inside = width - 2;
  std::string bar = utf8 ? "|" : "[";
  if (utf8) {
    constexpr std::array<const char*, 8> kEighths = {"",  "▏", "▎", "▍",
                                                     "▌", "▋", "▊", "▉"};
    const int eighths = static_cast<int>(fraction * inside * 8);
    for (int i = 0; i < eighths / 8; ++i) bar += "█";
    bar += kEighths[static_cast<size_t>(eighths % 8)];
    bar.append(static_cast<size_t>(inside - (eighths + 7) / 8), ' ');
  } else {
    const int full = static_cast<int>(fraction * inside);
    bar.append(static_cast<size_t>(full), '#');
    bar.append(static_cast<size_t>(inside - full), '.');
  }
  return bar + (utf8 ? "|" : "]");
}

struct Piece {
  std::string text;
  bool shown = false;
};

}  // namespace

std::string DrawBar(const ProgressLine& line, const BarStyle& style) {
  std::string head = line.label;
  if (line.total) {
    const std::string percent = Percent(line);
    head += " " + std::string(4 - percent.size(), ' ') + percent;
  }
  if (Columns(head) > style.width) return Truncated(head, style.width);

  std::string done = std::to_string(line.done);
  if (line.total) {
    const std::string total = std::to_string(*line.total);
    if (done.size() < total.size())
      done.insert(0, total.size() - done.size(), ' ');
    done += "/" + total;
  } else {
    done += " batches";
  }
  // In the order they stand, and in the order of their importance.
  std::vector<Piece> pieces = {
      {done},
      {line.samples_per_second > 0
           ? ReadableCount(line.samples_per_second) + " samples/s"
           : std::string("- samples/s")},
      {Time(line)}};
  std::vector<size_t> order = {0, 2};
  for (const auto& [name, value] : line.values) {
    order.push_back(pieces.size());
    pieces.push_back({name + " " + ReadableValue(value)});
  }
  order.insert(order.begin() + std::min<std::ptrdiff_t>(3, std::ssize(order)),
               1);

  // The bar itself is worth more than the rate, and less than counts and time.
  int left = style.width - Columns(head);
  const int bar_columns = kMinBar + 1;
  bool has_bar = false;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 2 && line.total && left >= bar_columns) {
      has_bar = true;
      left -= bar_columns;
    }
    const int needed = Columns(pieces[order[i]].text) + 2;
    if (needed > left) break;
    pieces[order[i]].shown = true;
    left -= needed;
  }
  std::string drawn = head;
  if (has_bar) {
    const int width = kMinBar + std::clamp(left, 0, kMaxBar - kMinBar);
    drawn += " " + Bar(Fraction(line), width, style.utf8);
  }
  for (const Piece& piece : pieces) {
    if (piece.shown) drawn += "  " + piece.text;
  }
  return drawn;
}

std::string DescribeProgress(const ProgressLine& line) {
  std::string text = line.label + ": " + std::to_string(line.done);
  if (line.total) text += "/" + std::to_string(*line.total);
  text += " batches";
  if (line.total) text += " (" + Percent(line) + ")";
  if (line.samples_per_second > 0) {
    text += ", " + ReadableCount(line.samples_per_second) + " samples/s";
  }
  text += ", " + Time(line);
  for (const auto& [name, value] : line.values) {
    text += ", " + name + " " + ReadableValue(value);
  }
  return text;
}

}  // namespace trainyard
