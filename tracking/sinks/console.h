// The console sink prints rows of numbers as a table, one line per row, with
// the names as a header whenever they change:
//
//       step        loss          lr
//         10         0.5       0.001
//
//   auto sink = MakeConsole({.every = 10});
//
// Thread-compatible.
#ifndef TRAINYARD_TRACKING_SINKS_CONSOLE_H_
#define TRAINYARD_TRACKING_SINKS_CONSOLE_H_

#include <cstdint>
#include <cstdio>
#include <memory>

#include "tracking/sinks/sink.h"

namespace trainyard {

struct ConsoleOptions {
  // Borrowed.
  std::FILE* output = stdout;
  // Prints every N-th of the rows with the same names. REQUIRES: >= 1.
  int64_t every = 1;
};

// Throws std::invalid_argument, naming the option, for an invalid one.
std::unique_ptr<Sink> MakeConsole(ConsoleOptions options = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_CONSOLE_H_
