// The state of libtorch's random number generators: the default generator of
// the CPU, and that of the current accelerator if there is one.
//
//   checkpoint.parts["rng"] = SaveRngState();
//   LoadRngState(checkpoint.parts.at("rng"));
//
// As thread-safe as the generators.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PARTS_RNG_STATE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PARTS_RNG_STATE_H_

#include "trainer/state.h"

namespace trainyard {

State SaveRngState();

// Restores the generators. The generator of an accelerator that the state
// lacks is left unchanged; the state of one that is not there is ignored.
// Throws std::invalid_argument if the CPU's state is missing and c10::Error if
// a state is malformed.
void LoadRngState(const State& state);

// The same generators as a part of a run.
class RngState final : public Stateful {
 public:
  State SaveState() const override { return SaveRngState(); }
  void LoadState(const State& state) override { LoadRngState(state); }
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PARTS_RNG_STATE_H_
