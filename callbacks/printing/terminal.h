// Properties of the terminal that an output is connected to.
//
//   if (IsTerminal(stderr)) Draw(TerminalWidth(stderr));
//
// Thread-safe, as long as nothing changes the environment.
#ifndef TRAINYARD_CALLBACKS_PRINTING_TERMINAL_H_
#define TRAINYARD_CALLBACKS_PRINTING_TERMINAL_H_

#include <cstdio>

namespace trainyard {

// Whether lines can be redrawn: it is a terminal, and TERM is not "dumb".
bool IsTerminal(std::FILE* output);

// The current number of columns; 80 if it is unknown.
int TerminalWidth(std::FILE* output);

// Whether the environment says that text is UTF-8 (LC_ALL, LC_CTYPE, LANG).
bool EnvironmentIsUtf8();

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_TERMINAL_H_
