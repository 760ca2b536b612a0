// rank_loss_probe HOW: two ranks connect, rank 1 is lost by HOW (kill, hang or
// leave), and rank 0 prints the error of its next collective.
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "backends/processes/group_collectives.h"
#include "backends/processes/process_group.h"
#include "backends/processes/rendezvous.h"

namespace trainyard {
namespace {

void Lose(const std::string& how, ProcessGroup& group) {
  if (how == "kill") raise(SIGKILL);
  if (how == "hang") raise(SIGSTOP);
  group.Abandon("the disk is full");
  _exit(9);
}

int Run(const std::string& how) {
  // The launcher sends it to rank 0 as soon as rank 1 has ended.
  signal(SIGTERM, SIG_IGN);
  // Only a rank that hangs is noticed by the timeout; the other one is longer
  // than the test may take.
  ProcessGroup group({.rendezvous = RendezvousFromEnvironment(),
                      .timeout = how == "hang" ? std::chrono::milliseconds(3000)
                                               : std::chrono::hours(1)});
  const auto collectives = MakeGroupCollectives(group);
  const at::Tensor pid =
      collectives->AllGather(at::tensor({int64_t{getpid()}}))[1];
  if (collectives->rank() == 1) Lose(how, group);
  int code = 1;
  try {
    at::Tensor tensor = at::ones({4});
    collectives->AllReduce(tensor, ReduceOp::kSum);
  } catch (const c10::DistError& error) {
    std::printf("%s\n", error.what_without_backtrace());
    code = 0;
  }
  kill(static_cast<pid_t>(pid.item<int64_t>()), SIGKILL);
  return code;
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  return argc == 2 ? trainyard::Run(argv[1]) : 2;
}
