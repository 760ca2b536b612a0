// The same training, the tiny network of tools/bench/README.md, by different
// loops.
#ifndef TRAINYARD_TOOLS_BENCH_STEP_LOOPS_H_
#define TRAINYARD_TOOLS_BENCH_STEP_LOOPS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trainyard {

struct StepLoop {
  std::string name;
  // Trains for this many steps from where it was.
  std::function<void(int64_t steps)> run;
};

// A fresh network and data for each loop. All train with AdamW, lr 1e-3 on a
// cosine, and clip the gradient norm to 1, except the first, which only
// computes gradients.
std::vector<StepLoop> MakeStepLoops();

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_BENCH_STEP_LOOPS_H_
