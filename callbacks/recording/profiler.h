// Profiler writes a trace of some steps, which chrome://tracing and Perfetto
// show: every operator of forward, backward and update, on the host and on CUDA
// devices.
//
//   trainer.Add(Profiler({.path = "steps.json", .first_batch = 20}));
//
// It does not slow down the steps before. A run that ends during the trace
// writes the steps so far; a second run replaces the file.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_RECORDING_PROFILER_H_
#define TRAINYARD_CALLBACKS_RECORDING_PROFILER_H_

#include <cstdint>
#include <string>

#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

struct ProfilerOptions {
  // The file to write. Required.
  std::string path;
  // Counted from 1 over the whole run. The first batches of a run are not
  // typical: they allocate memory. REQUIRES: >= 1.
  int64_t first_batch = 10;
  // REQUIRES: >= 1.
  int64_t batches = 3;
  // Records the shapes of operators' inputs.
  bool shapes = false;
  // Records allocations.
  bool memory = false;
};

class Profiler final : public Callback {
 public:
  // Throws c10::ValueError, naming the option, for an invalid one.
  explicit Profiler(ProfilerOptions options);

  // Before other callbacks, which are part of a step.
  int priority() const override { return -50; }

  void OnRunStart(const RunStart& e, Control&) override;
  void OnStepStart(const StepStart& e, Control&) override;
  // This and OnRunEnd throw if the file cannot be written.
  void OnStepEnd(const StepEnd& e, Control&) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

 private:
  void Start();
  void Write();

  ProfilerOptions options_;
  int64_t batch_ = 0;
  bool recording_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_RECORDING_PROFILER_H_
