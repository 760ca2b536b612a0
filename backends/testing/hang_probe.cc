// hang_probe HOW: three ranks connect and make some calls; then one does not
// come to the next AllReduce, by HOW:
//
//   freeze    rank 1 is stopped (SIGSTOP)
//   leave     rank 1 ends, and says why
//   busy      rank 1 never comes back from code of its own
//   skip      rank 1 leaves the AllReduce out and makes the next call
//   gradient  rank 1 leaves it out and exchanges a gradient
//   absent    rank 2 never connects
//
// Ranks whose calls fail print the error and end with 1. The second argument is
// the timeout in milliseconds.
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "backends/processes/group_collectives.h"
#include "backends/processes/process_group.h"
#include "backends/processes/rendezvous.h"

namespace trainyard {
namespace {

void Stay(const char* where) {
  std::printf("%s\n", where);
  std::fflush(stdout);
  while (true) pause();
}

void Run(const std::string& how, std::chrono::milliseconds timeout) {
  // The launcher sends it as soon as one rank has ended.
  signal(SIGTERM, SIG_IGN);
  const Rendezvous rendezvous = RendezvousFromEnvironment();
  if (how == "absent" && rendezvous.rank == 2) Stay("absent");
  ProcessGroup group({.rendezvous = rendezvous, .timeout = timeout});
  const auto collectives = MakeGroupCollectives(group);
  for (int i = 0; i < 3; ++i) collectives->Barrier();
  std::vector<at::Tensor> tensors = {at::ones({64, 64})};
  if (rendezvous.rank == 1) {
    if (how == "freeze") raise(SIGSTOP);
    if (how == "busy") Stay("busy");
    if (how == "leave") {
      collectives->Abandon("the disk is full");
      _exit(9);
    }
    if (how == "gradient") {
      group.Guard("the exchange of gradients",
                  [&] { group.training()->allreduce(tensors)->wait(); });
    }
  }
  if (rendezvous.rank != 1 || how == "freeze") {
    collectives->AllReduce(tensors[0], ReduceOp::kSum);
  }
  collectives->Barrier();
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    trainyard::Run(argv[1], std::chrono::milliseconds(std::stoi(argv[2])));
    return 0;
  } catch (const c10::Error& error) {
    std::printf("%s\n", error.what_without_backtrace());
    return 1;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
