#include "tools/cli/parse_flags.h"

#include <absl/flags/parse.h>
#include <absl/flags/usage.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace trainyard {

void ParseFlags(int argc, char** argv, const char* usage) {
  absl::SetProgramUsageMessage(usage);
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() < 2) return;
  std::fprintf(stderr, "error: \"%s\" is not a flag; see --help\n", rest[1]);
  std::exit(EXIT_FAILURE);
}

}  // namespace trainyard
