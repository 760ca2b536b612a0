// ParseFlags reads the absl flags of a program and sets the text of --help. It
// ends the program with one line on standard error if an argument is not a
// flag.
//
//   trainyard::ParseFlags(argc, argv, "compares the throughput of loaders");
//
// Call it first in main, before other threads start.
#ifndef TRAINYARD_TOOLS_CLI_PARSE_FLAGS_H_
#define TRAINYARD_TOOLS_CLI_PARSE_FLAGS_H_

namespace trainyard {

void ParseFlags(int argc, char** argv, const char* usage);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_CLI_PARSE_FLAGS_H_
