#include "callbacks/printing/readable.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace trainyard {
namespace {

template <class... Args>
std::string Print(const char* format, Args... args) {
  std::array<char, 64> text;
  const int size = std::snprintf(text.data(), text.size(), format, args...);
  return std::string(text.data(), static_cast<size_t>(size));
}

}  // namespace

std::string ReadableCount(double count) {
  if (!std::isfinite(count)) return "-";
  constexpr std::array<const char*, 5> kSuffixes = {"", "k", "M", "G", "T"};
  size_t suffix = 0;
  // What would be rounded up to 1000 belongs to the next suffix.
  while (std::abs(count) >= 999.5 && suffix + 1 < kSuffixes.size()) {
    count /= 1000;
    ++suffix;
  }
  const double size = std::abs(count);
  int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  if (suffix == 0 && decimals > 1) decimals = 1;
  return Print("%.*f%s", decimals, count, kSuffixes[suffix]);
}

std::string ReadableSeconds(double seconds) {
  // Above it a count of days means nothing, and would not fit an integer.
  constexpr double kTooLong = 1e9;
  if (!(seconds >= 0 && seconds < kTooLong)) return "-:--";
  const int64_t all = std::llround(seconds);
  const int64_t day = all / 86400, hour = all / 3600 % 24;
  const int64_t minute = all / 60 % 60, second = all % 60;
  if (day > 0) return Print("%ldd %02ld:%02ld", day, hour, minute);
  if (hour > 0) return Print("%ld:%02ld:%02ld", hour, minute, second);
  return Print("%ld:%02ld", minute, second);
}

std::string ReadableValue(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0) return "0";
  const double size = std::abs(value);
  return size >= 1e-2 && size < 1e5 ? Print("%.4f", value)
                                    : Print("%.3e", value);
}

}  // namespace trainyard
