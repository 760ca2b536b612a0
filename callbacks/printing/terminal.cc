#include "callbacks/printing/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace trainyard {
namespace {

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// -1 for streams in memory.
int Descriptor(std::FILE* output) {
  return output == nullptr ? -1 : fileno(output);
}

}  // namespace

bool IsTerminal(std::FILE* output) {
  const int descriptor = Descriptor(output);
  return descriptor >= 0 && isatty(descriptor) != 0 &&
         Variable("TERM") != "dumb";
}

int TerminalWidth(std::FILE* output) {
  constexpr int kUnknown = 80;
  winsize size = {};
  const int descriptor = Descriptor(output);
  if (descriptor < 0 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0) {
    return kUnknown;
  }
  return size.ws_col;
}

bool EnvironmentIsUtf8() {
  // The first that is set decides, as in the C library.
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = Variable(name);
    if (value.empty()) continue;
    for (const char* spelling : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
      if (value.find(spelling) != std::string_view::npos) return true;
    }
    return false;
  }
  return false;
}

}  // namespace trainyard
