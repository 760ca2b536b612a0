// ParseFlags reads the absl flags of a program, from the command line and from
// a file, and sets the text of --help.
//
//   trainyard::ParseFlags(argc, argv, "compares the throughput of loaders");
//
// Every program that calls it takes three more flags:
//
//   --config=FILE        reads flags from a text proto (`lr: 0.1`) or from JSON
//                        (those of the command line win)
//   --write_config=FILE  writes all flags to a file, JSON if its name ends in
//                        .json, and ends the program
//   --show_config        prints all flags as a text proto before the program
//                        runs
//
// Call it first in main, before other threads start.
#ifndef TRAINYARD_TOOLS_CLI_PARSE_FLAGS_H_
#define TRAINYARD_TOOLS_CLI_PARSE_FLAGS_H_

#include <string>
#include <string_view>

namespace trainyard {

// Ends the program with one line on standard error if an argument is not a
// flag, or if a file cannot be read or has an unknown name.
void ParseFlags(int argc, char** argv, const char* usage);

// Sets flags of the program from the text of a file; `path` is for messages.
// Throws std::invalid_argument for a name that is not a flag, with the nearest
// one, and for an invalid value.
void SetFlags(std::string_view text, const std::string& path);

// Returns every flag of the program with its value, as a text proto or as JSON.
std::string FlagsText(bool json);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_CLI_PARSE_FLAGS_H_
