// Prints the place that this process would have among the ranks of a run, as
// the launcher's variables give it. To try a launcher or a job script before a
// training depends on it:
//
//   srun -N2 -n4 bazel-bin/tools/launch/where

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "backends/processes/own_address.h"
#include "backends/processes/rendezvous.h"

int main() {
  try {
    const trainyard::Rendezvous place = trainyard::RendezvousFromEnvironment();
    std::printf("%s\n", trainyard::DescribePlace(
                            place, trainyard::ChooseOwnAddress(place))
                            .c_str());
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
