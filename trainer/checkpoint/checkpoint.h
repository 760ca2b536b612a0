// Checkpoint is all that a run needs to go on as if it had never stopped, in
// memory.
//
//   Checkpoint checkpoint{.step = 12000};
//   checkpoint.tensors["model"] = NamedParameters(*model);
//   checkpoint.tensors["optimizer"] = optimizer.NamedTensors();
//   checkpoint.parts["loader"] = loader.SaveState();
//
// Thread-compatible. Copies share the tensors' memory.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"
#include "trainer/state.h"

namespace trainyard {

struct Checkpoint {
  // Where the run is. The step names the checkpoint: a run that saves more than
  // once between two updates must count something finer. REQUIRES: >= 0.
  int64_t step = 0;
  int64_t epoch = 0;
  int64_t samples = 0;
  // Whether the run has come to its end.
  bool finished = false;
  // Large things, by group: "model", "optimizer", "ema". Each group is a
  // safetensors file of that name, or several if several processes write.
  // Groups are called [A-Za-z0-9_][A-Za-z0-9._-]*, but not "state".
  std::map<std::string, std::vector<NamedTensor>> tensors = {};
  // Everything else, by part. A name has no slash. Tensors with NaN are not
  // saved, except in the part "gradients".
  std::map<std::string, State> parts = {};
  // Of an evaluation of these very weights: what "best" is decided by. Empty if
  // there was none.
  std::map<std::string, double> metrics = {};
  // Settings of the run, to be compared when it is resumed.
  std::map<std::string, std::string> config = {};

  // Set by loading: how many processes wrote it. With another number now, the
  // parts are those of process 0.
  int world_size = 1;
  // Set by loading: whether the parts are this process's own, on all processes.
  // A node's folder has those of its own processes only.
  bool own_parts = true;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_H_
