// Starts a program as several cooperating ranks; see --help.

#include <string>
#include <vector>

#include "tools/launch/launch_program.h"

int main(int argc, char** argv) {
  return trainyard::RunLaunchProgram(
      std::vector<std::string>(argv + 1, argv + argc));
}
