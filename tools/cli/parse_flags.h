// The first line of every example's main: sets what --help says, reads the
// flags, and ends the program with one line for anything that is not a flag.
#ifndef TRAINYARD_TOOLS_CLI_PARSE_FLAGS_H_
#define TRAINYARD_TOOLS_CLI_PARSE_FLAGS_H_

namespace trainyard {

void ParseFlags(int argc, char** argv, const char* usage);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_CLI_PARSE_FLAGS_H_
