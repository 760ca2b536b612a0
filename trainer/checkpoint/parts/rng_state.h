// The state of libtorch's random number generators: what a run draws next.
//
//   checkpoint.parts["rng"] = SaveRngState();
//   …
//   LoadRngState(checkpoint.parts.at("rng"));
//
// The host's default generator, and that of the current CUDA device if there
// is one. Thread-safe as the generators are.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PARTS_RNG_STATE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PARTS_RNG_STATE_H_

#include <ATen/core/Generator.h>

#include <string>

#include "trainer/state.h"

namespace trainyard {

State SaveRngState();

// A generator that was not saved, or that is not here, keeps its own state.
// Throws std::invalid_argument, or c10::Error for a state that is none, and
// changes nothing.
void LoadRngState(const State& state);

// The same generators as a part of a run.
class RngState final : public Stateful {
 public:
  State SaveState() const override { return SaveRngState(); }
  void LoadState(const State& state) override { LoadRngState(state); }
};

// One generator, e.g. a sampler's own.
State SaveGenerator(const at::Generator& generator);
void LoadGenerator(const State& state, at::Generator generator);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PARTS_RNG_STATE_H_
