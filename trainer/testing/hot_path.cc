#include "trainer/testing/hot_path.h"

#include <cstdio>
#include <memory>

#include "backends/testing/standin/standin.h"
#include "callbacks/callback.h"
#include "callbacks/printing/epoch_table.h"
#include "callbacks/printing/progress_bar.h"
#include "callbacks/weights/model_ema.h"
#include "schedulers/linear.h"
#include "trainer/optim/clip.h"
#include "trainer/testing/line_rig.h"
#include "trainer/train_options.h"

namespace trainyard {
namespace {

constexpr int64_t kWarmUp = 8;
// More than the default callbacks let pass between two looks at the loss.
constexpr int64_t kLast = 128;
constexpr double kSecondsPerStep = 0.01;

// Counts from the end of the warm-up to the end of the last step.
class Counter final : public Callback {
 public:
  // After all others.
  int priority() const override { return 1000; }
  void OnStepEnd(const StepEnd& e, Control&) override {
    seconds += kSecondsPerStep;
    const int64_t blocking = counting == nullptr ? 0 : counting->waits;
    if (e.clock.batches() == kWarmUp) {
      ResetStandInCounts();
      blocking_before = blocking;
    }
    if (e.clock.batches() == kLast) {
      costs = {.steps = kLast - kWarmUp,
               .counts = StandInCounts(),
               .waits = StandInSynchronizations(),
               .blocking_collectives = blocking - blocking_before};
    }
  }
  const CountingCollectives* counting = nullptr;
  int64_t blocking_before = 0;
  double seconds = 0;
  StepCosts costs;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

StepCosts MeasureSteps(Backend& backend, const std::string& name,
                       const HotPathOptions& options) {
  LineRig rig(/*lr=*/0.1, &backend, options.callbacks);
  Counter counter;
  counter.counting = options.counting;
  const std::unique_ptr<std::FILE, CloseFile> nowhere(
      std::fopen("/dev/null", "w"));
  if (options.callbacks) {
    rig.trainer().Add(ProgressBar({.output = nowhere.get(),
                                   .force_terminal = true,
                                   .clock = [&] { return counter.seconds; }}));
    rig.trainer().Add(EpochTable({.output = nowhere.get()}));
    rig.trainer().Add(ModelEma(rig.model()));
  }
  rig.trainer().Add(counter);
  rig.trainer().Train(
      {.data = LinePoints(8 * (kLast + 2) * backend.num_processes()),
       .length = Epochs(1),
       .per_device_batch_size = 8,
       .clip = ClipNorm(1),
       .schedule = Linear({.end_ratio = 0.5}),
       .checkpoint = options.checkpoint});
  const StepCosts& costs = counter.costs;
  const auto per_step = [&](int64_t count) {
    return static_cast<double>(count) / static_cast<double>(costs.steps);
  };
  std::printf(
      "%s%s, per step: %.2f waits, %.2f copies to the host, %.2f copies to the "
      "device, %.2f collectives (%.2f blocking), %.1f kernels\n",
      name.c_str(), options.callbacks ? " with callbacks" : "",
      per_step(costs.counts.synchronizations),
      per_step(costs.counts.copies_to_host),
      per_step(costs.counts.copies_to_device),
      per_step(costs.counts.collectives), per_step(costs.blocking_collectives),
      per_step(costs.counts.kernels));
  return costs;
}

}  // namespace trainyard
