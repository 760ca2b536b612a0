// MakeStepLoops makes the loops of the benchmark `step`: the same training of a
// tiny network (see tools/bench/README.md) by different programs.
//
//   const std::vector<trainyard::StepLoop> loops = trainyard::MakeStepLoops();
//   …
//   loops.at(static_cast<size_t>(*only)).run(steps);
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_BENCH_STEP_LOOPS_H_
#define TRAINYARD_TOOLS_BENCH_STEP_LOOPS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trainyard {

struct StepLoop {
  std::string name;
  // Trains for this many further steps.
  std::function<void(int64_t steps)> run;
};

// Each loop has its own network and data. All loops except the first train with
// AdamW (lr 1e-3, cosine schedule) and clip the gradient norm to 1; the first
// one only computes gradients.
std::vector<StepLoop> MakeStepLoops();

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_BENCH_STEP_LOOPS_H_
