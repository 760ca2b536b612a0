// RunState is the list of everything in a run that has state, each under a
// name. It collects them into a checkpoint and loads them back.
//
//   RunState state(backend);
//   state.Add("schedules", schedules);
//   state.Add("callback X", callback, RunState::IfMissing::kWarn);
//   state.Collect(/*in_window=*/false, checkpoint);
//   state.Load(checkpoint);
//
// Parts are loaded in the order in which they were added. FORMAT.md of
// trainer/checkpoint lists the names of a run and their versions.
//
// A checkpoint in the middle of an accumulation window holds gradients of each
// rank. Other ranks (another number, or another node's folder) cannot continue
// them: they repeat the window from its start. So that they can, the parts that
// change with every batch are saved a second time, as they were at the start of
// the window; see AddMoving.
//
// The end of a run changes parts: it evaluates, and counts an epoch that its
// length has cut short. A longer run goes on as if that had not been the end.
// So that it can, parts are saved a second time, as they were before; see
// MarkEnd.
//
// Thread-compatible. Borrows all parts.
#ifndef TRAINYARD_TRAINER_LOOP_RUN_STATE_H_
#define TRAINYARD_TRAINER_LOOP_RUN_STATE_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "tracking/metrics.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/loop/held_tensors.h"
#include "trainer/model/named_tensor.h"
#include "trainer/state.h"

namespace trainyard {

class RunState {
 public:
  // What Load does if the checkpoint lacks a part.
  enum class IfMissing {
    kError,  // throws, and changes nothing
    kWarn,   // logs a warning; the part keeps its state
    kKeep    // the part keeps its state
  };

  // A group of tensors that is a file of its own.
  struct TensorGroup {
    std::string group;
    std::function<HeldTensors()> tensors;
    std::function<void(const std::vector<NamedTensor>& saved)> load;
  };

  explicit RunState(Backend& backend) : backend_(backend) {}

  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  void AddTensors(TensorGroup group);
  void Add(std::string name, Stateful& part,
           IfMissing if_missing = IfMissing::kError);
  // A part that changes with every batch: where the run is.
  void AddMoving(std::string name, Stateful& part);
  // Means of which each rank holds its share. Other ranks load the sum of all
  // shares on rank 0.
  void AddMeans(std::string name, MetricMeans& means);
  // What an unfinished window has accumulated. Not loaded by ranks that repeat
  // the window.
  void AddWindow(std::string name, Stateful& part);

  // Keeps the moving parts and the means as they are now, for checkpoints
  // within the window that starts.
  void MarkWindowStart();

  // Keeps the parts as they are now, before the run does what only its end
  // does, for the checkpoints that follow. Not means, which the end leaves, nor
  // parts with tensors. A second call changes nothing.
  void MarkEnd();

  // Fills in the tensors and parts. `in_window`: a window is unfinished. Before
  // that, MarkWindowStart was called. Collective: all ranks must call it.
  void Collect(bool in_window, Checkpoint& checkpoint) const;

  // Loads every part, except those in `fresh`, which keep their state. All
  // names are checked before the first part is changed. `before_end`: as they
  // were before the end of the run, if it has ended. Throws c10::ValueError,
  // naming the part, if one is missing or does not fit.
  void Load(const Checkpoint& checkpoint,
            const std::set<std::string>& fresh = {}, bool before_end = false);

 private:
  enum class Kind { kTensors, kPart, kMoving, kMeans, kWindow };
  struct Entry {
    Kind kind;
    std::string name;
    IfMissing if_missing = IfMissing::kError;
    Stateful* part = nullptr;
    MetricMeans* means = nullptr;
    TensorGroup tensors = {};
  };

  // Where the checkpoint has the state for this entry; empty: not loaded.
  struct Source {
    bool other_ranks;
    bool repeat_window;
    bool before_end;
  };
  std::string PartName(const Entry& entry, const Source& source,
                       const Checkpoint& checkpoint) const;
  void LoadEntry(const Entry& entry, const std::string& name,
                 const Source& source, const Checkpoint& checkpoint);

  Backend& backend_;
  std::vector<Entry> entries_;
  std::map<std::string, State> window_start_;
  std::map<std::string, MetricMeans> means_at_window_start_;
  // Empty: not marked.
  std::map<std::string, State> before_end_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_RUN_STATE_H_
