#include "trainer/main.h"

#include <c10/util/Exception.h>

#include <cstdio>
#include <cstdlib>

namespace trainyard {

std::string ErrorMessage(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  return torch_error == nullptr ? error.what()
                                : torch_error->what_without_backtrace();
}

int Main(const std::function<void()>& program) {
  try {
    program();
    return EXIT_SUCCESS;
  } catch (const std::exception& e) {
    std::fflush(stdout);
    std::fprintf(stderr, "error: %s\n", ErrorMessage(e).c_str());
  } catch (...) {
    std::fprintf(stderr,
                 "error: something was thrown that is not an exception\n");
  }
  return EXIT_FAILURE;
}

}  // namespace trainyard
