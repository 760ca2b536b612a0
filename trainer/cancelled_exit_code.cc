#include "trainer/cancelled_exit_code.h"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

namespace trainyard {

int CancelledExitCode() {
  constexpr int kDefault = 3;
  const char* const value = std::getenv("TRAINYARD_CANCELLED_EXIT_CODE");
  if (value == nullptr) return kDefault;
  const std::string text = value;
  int code = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc() || end != text.data() + text.size() || code < 0 ||
      code > 255) {
    throw std::invalid_argument("TRAINYARD_CANCELLED_EXIT_CODE is \"" + text +
                                "\", not a number from 0 to 255");
  }
  return code;
}

}  // namespace trainyard
