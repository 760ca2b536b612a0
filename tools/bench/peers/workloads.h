// Networks, data and the result line of the comparison with other frameworks:
// the C++ side of what tools/bench/peers/workloads.py has for Python.
//
//   const Records data = MakeRecords(work, work.batch * work.steps);
//   …
//   PrintResult(ends, FirstLoss(model, data));
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_BENCH_PEERS_WORKLOADS_H_
#define TRAINYARD_TOOLS_BENCH_PEERS_WORKLOADS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::bench {

struct Workload {
  int64_t batch = 0;                 // records per step and rank
  int64_t steps = 0;                 // of one run
  std::vector<int64_t> widths = {};  // of the MLP; empty: the transformer
};

struct Records {
  at::Tensor input, target;
};

// The workload `name`: "tiny", "mlp" or "transformer". `steps` > 0 replaces its
// number of steps. Throws std::invalid_argument for another name or too few
// steps.
Workload GetWorkload(const std::string& name, int64_t steps);

// Random inputs and targets that a network can learn from them.
Records MakeRecords(const Workload& work, int64_t records);

// Seconds since the epoch.
double Seconds();

// Prints the line that peers.py reads: mean and median time of a step, seconds
// from BENCH_LAUNCH to the end of the first step, and the final loss. `ends`
// are the times at which the steps ended; the first ones count as warm-up.
void PrintResult(const std::vector<double>& ends, double loss);

}  // namespace trainyard::bench

#endif  // TRAINYARD_TOOLS_BENCH_PEERS_WORKLOADS_H_
