// Networks, data and the result line of the comparison with other frameworks:
// the C++ side of what tools/bench/peers/workloads.py has for Python.
//
//   const Records data = MakeRecords(work, work.batch * work.steps);
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_BENCH_PEERS_WORKLOADS_H_
#define TRAINYARD_TOOLS_BENCH_PEERS_WORKLOADS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/data/dataset.h"

namespace trainyard::bench {

// Of the row of accuracy: epochs of the schedule, and the accuracy at which a
// run ends.
inline constexpr int64_t kEpochs = 5;
inline constexpr double kWanted = 0.91;

enum class Network { kMlp, kTransformer, kConvNet };

struct Workload {
  Network network = Network::kMlp;
  int64_t batch = 0;  // records per step and rank
  double rate = 0;    // the learning rate
  // Of one run. 0: on all records, for kEpochs or until the accuracy is
  // reached.
  int64_t steps = 0;
  std::vector<int64_t> widths = {};  // of the MLP
};

struct Records {
  at::Tensor input, target;
};

// How many records the final loss is that of.
inline constexpr int64_t kLossRecords = 512;

// The first records of a dataset of Examples; all if there are fewer.
Records First(const Dataset& data, int64_t count);

// The workload `name`: "tiny", "mlp", "transformer" or "conv". Throws
// std::invalid_argument for another name, too few steps, or none of another
// workload than "conv".
Workload GetWorkload(const std::string& name, int64_t steps);

// The first images of Fashion-MNIST for the convolution net, all if `records`
// is 0; otherwise random inputs, and targets that a network can learn from
// them.
Records MakeRecords(const Workload& work, int64_t records);

// The images that the row of accuracy evaluates on.
Records TestRecords();

// Seconds since the epoch.
double Seconds();

// Prints the line that peers.py reads: mean and median time of a step, seconds
// from BENCH_LAUNCH to the end of the first step, and the final loss. `ends`
// are the times at which the steps ended; the first ones count as warm-up.
void PrintResult(const std::vector<double>& ends, double loss);

// The same for the row of accuracy, which is reached now. Throws
// std::runtime_error if it is lower than kWanted.
void PrintAccuracy(int64_t epochs, double accuracy);

}  // namespace trainyard::bench

#endif  // TRAINYARD_TOOLS_BENCH_PEERS_WORKLOADS_H_
