#include "tools/cli/parse_flags.h"

#include <absl/flags/commandlineflag.h>
#include <absl/flags/flag.h>
#include <absl/flags/parse.h>
#include <absl/flags/reflection.h>
#include <absl/flags/usage.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "finetuning/near_names.h"
#include "tools/cli/option_file.h"

ABSL_FLAG(std::string, config, "",
          "File of flags: a text proto (`lr: 0.1`) or JSON. Flags of the "
          "command line win.");
ABSL_FLAG(
    std::string, write_config, "",
    "Writes all flags to this file, as JSON if its name ends in .json and "
    "as a text proto otherwise, and ends the program.");
ABSL_FLAG(bool, show_config, false,
          "Prints all flags as a text proto before the program runs.");

namespace trainyard {
namespace {

// The flags of the program and its libraries, by name: without those of absl
// and those of this file.
std::map<std::string, absl::CommandLineFlag*> ProgramFlags() {
  std::map<std::string, absl::CommandLineFlag*> flags;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    const std::string file = flag->Filename();
    if (file.find("absl/") != std::string::npos ||
        file.find("tools/cli/parse_flags.cc") != std::string::npos) {
      continue;
    }
    flags[std::string(name)] = flag;
  }
  return flags;
}

// The value of --config=FILE or --config FILE; absl takes one dash, too. Empty:
// not given.
std::string ConfigFile(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--") break;
    if (argument.rfind("--", 0) == 0) argument.remove_prefix(1);
    if (argument == "-config" && i + 1 < argc) return argv[i + 1];
    if (argument.rfind("-config=", 0) == 0) {
      return std::string(argument.substr(std::strlen("-config=")));
    }
  }
  return "";
}

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::invalid_argument("--config: cannot read " + path);
  return text.str();
}

void WriteConfig(const std::string& path) {
  const std::string_view name = path;
  const bool json = name.size() > 5 && name.substr(name.size() - 5) == ".json";
  std::ofstream file(path);
  file << FlagsText(json);
  if (!file.flush()) {
    throw std::invalid_argument("--write_config: cannot write " + path);
  }
}

void ReadAll(int argc, char** argv) {
  const std::string config = ConfigFile(argc, argv);
  if (!config.empty()) SetFlags(FileText(config), config);
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() > 1) {
    throw std::invalid_argument("\"" + std::string(rest[1]) +
                                "\" is not a flag; see --help");
  }
  if (absl::GetFlag(FLAGS_show_config)) std::cout << FlagsText(false);
  const std::string path = absl::GetFlag(FLAGS_write_config);
  if (path.empty()) return;
  WriteConfig(path);
  std::exit(EXIT_SUCCESS);
}

}  // namespace

void SetFlags(std::string_view text, const std::string& path) {
  const std::map<std::string, absl::CommandLineFlag*> flags = ProgramFlags();
  for (const auto& [name, value] : ParseOptionFile(text, path)) {
    const auto flag = flags.find(name);
    if (flag == flags.end()) {
      std::vector<std::string> names;
      for (const auto& item : flags) names.push_back(item.first);
      const std::vector<std::string> near = NearNames(name, names, 1);
      throw std::invalid_argument(
          path + ": " + name + " is not an option of this program" +
          (near.empty() ? "; see --help"
                        : "; did you mean " + near.front() + "?"));
    }
    std::string error;
    if (!flag->second->ParseFrom(value, &error)) {
      throw std::invalid_argument(path + ": " + name + " is '" + value + "'; " +
                                  error);
    }
  }
}

std::string FlagsText(bool json) {
  std::vector<FileOption> options;
  for (const auto& [name, flag] : ProgramFlags()) {
    options.push_back({name, flag->CurrentValue()});
  }
  return FormatOptionFile(options, json);
}

void ParseFlags(int argc, char** argv, const char* usage) {
  absl::SetProgramUsageMessage(usage);
  try {
    ReadAll(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    std::exit(EXIT_FAILURE);
  }
}

}  // namespace trainyard
