// Checkpoint is the complete state of a run in memory: everything that is
// needed to resume it as if it had never stopped.
//
//   Checkpoint checkpoint{.step = 12000};
//   checkpoint.tensors["model"] = NamedParameters(*model);
//   checkpoint.tensors["optimizer"] = optimizer.NamedTensors();
//   checkpoint.parts["rng"] = SaveRngState();
//
// Thread-compatible. Copies share the memory of the tensors.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"
#include "trainer/model/tensor_slice.h"
#include "trainer/state.h"

namespace trainyard {

struct Checkpoint {
  // The position of the run. The step identifies the checkpoint: a later one
  // with the same step replaces it. REQUIRES: >= 0.
  int64_t step = 0;
  int64_t epoch = 0;
  int64_t samples = 0;
  // Whether the run is finished.
  bool finished = false;
  // Tensors by group, e.g. "model", "optimizer". A store writes each group to a
  // safetensors file of that name, or to several if several ranks write. The
  // name of a group is [A-Za-z0-9_][A-Za-z0-9._-]*, except "state".
  std::map<std::string, std::vector<NamedTensor>> tensors = {};
  // Tensors of which each rank holds only a slice, by group. Every rank passes
  // its own slices; together they are whole. Loading joins them: they are then
  // among `tensors`.
  std::map<std::string, std::vector<TensorSlice>> slices = {};
  // All other state by part. The name of a part contains no slash. Tensors must
  // not contain NaN, except in the part "gradients".
  std::map<std::string, State> parts = {};
  // The metrics of an evaluation of exactly these weights; retention by the
  // best metric uses them. Empty if these weights were not evaluated.
  std::map<std::string, double> metrics = {};
  // The settings of the run. They are compared when it is resumed.
  std::map<std::string, std::string> config = {};

  // Set by loading: the number of ranks that wrote the checkpoint. A rank that
  // did not exist then gets the parts of the first rank.
  int world_size = 1;
  // Set by loading: whether every rank has got the parts that it saved. False
  // e.g. if a node's folder was copied from another node.
  bool own_parts = true;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_H_
