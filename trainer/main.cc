#include "trainer/main.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "trainer/cancelled_exit_code.h"
#include "trainer/cores/share_cores.h"
#include "trainer/error_message.h"
#include "trainer/loop/cancellation.h"

namespace trainyard {

int Main(const std::function<int()>& program) {
  try {
    RememberSignals(CancellationFromEnvironment());
    const ShareCores share;
    return program();
  } catch (const std::exception& e) {
    std::fflush(stdout);
    std::fprintf(stderr, "error: %s\n", ErrorMessage(e).c_str());
  } catch (...) {
    std::fprintf(stderr,
                 "error: something was thrown that is not an exception\n");
  }
  return EXIT_FAILURE;
}

int ExitCode(RunEnding ending) {
  switch (ending) {
    case RunEnding::kFinished:
    case RunEnding::kStopped:
      return EXIT_SUCCESS;
    case RunEnding::kCancelled:
      return CancelledExitCode();
    case RunEnding::kError:
      return EXIT_FAILURE;
  }
  return EXIT_FAILURE;
}

}  // namespace trainyard
