#include "trainer/loop/limit_batches.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace trainyard {
namespace {

constexpr char kVariable[] = "TRAINYARD_LIMIT_BATCHES";

std::optional<int64_t> FromEnvironment() {
  const char* value = std::getenv(kVariable);
  const std::string text = value == nullptr ? "" : value;
  if (text.empty()) return std::nullopt;
  int64_t limit = 0;
  const char* end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, limit);
  if (error != std::errc() || parsed != end || limit < 1) {
    throw std::invalid_argument(std::string(kVariable) + " is \"" + text +
                                "\"; it must be a positive whole number");
  }
  return limit;
}

}  // namespace

std::optional<int64_t> LimitBatches(std::optional<int64_t> limit) {
  const std::optional<int64_t> other = FromEnvironment();
  if (!limit) return other;
  return other ? std::min(*limit, *other) : limit;
}

}  // namespace trainyard
