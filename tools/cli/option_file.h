// ParseOptionFile reads options from a text: JSON if it begins with '{', text
// proto otherwise. Free of libtorch.
//
//   const std::vector<FileOption> options =
//       ParseOptionFile("lr: 0.01  checkpoint { save: \"1 epoch\" }", "run.txt");
//   // {"lr", "0.01"}, {"checkpoint_save", "1 epoch"}
//
// The names of nested options are joined by '_', and the items of a list by
// ','. Thread-safe.
#ifndef TRAINYARD_TOOLS_CLI_OPTION_FILE_H_
#define TRAINYARD_TOOLS_CLI_OPTION_FILE_H_

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct FileOption {
  std::string name;
  std::string value;
};

// `path` is for messages. Throws std::invalid_argument, with the line, if the
// text is not of the format, and for a name that is given twice.
std::vector<FileOption> ParseOptionFile(std::string_view text,
                                        const std::string& path);

// Returns the options as a text that ParseOptionFile reads: in JSON or as a
// text proto. Values are texts in quotes, except numbers, true and false.
std::string FormatOptionFile(const std::vector<FileOption>& options, bool json);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_CLI_OPTION_FILE_H_
