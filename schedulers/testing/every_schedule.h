// One of every schedule, for tests and benchmarks of what all must do.
//
//   for (const NamedFactory& tested : EverySchedule()) {
//     std::unique_ptr<Schedule> schedule = tested.make(kEveryRun);
//     ...
//   }
//
// Thread-safe.
#ifndef TRAINYARD_SCHEDULERS_TESTING_EVERY_SCHEDULE_H_
#define TRAINYARD_SCHEDULERS_TESTING_EVERY_SCHEDULE_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "schedulers/chained.h"
#include "schedulers/constant.h"
#include "schedulers/cosine.h"
#include "schedulers/cosine_annealing.h"
#include "schedulers/cyclic.h"
#include "schedulers/exponential.h"
#include "schedulers/inverse_sqrt.h"
#include "schedulers/lambda.h"
#include "schedulers/linear.h"
#include "schedulers/multi_step.h"
#include "schedulers/noam.h"
#include "schedulers/one_cycle.h"
#include "schedulers/polynomial.h"
#include "schedulers/schedule.h"
#include "schedulers/sequential.h"
#include "schedulers/step.h"
#include "schedulers/warm_restarts.h"
#include "schedulers/warmup.h"
#include "schedulers/warmup_stable_decay.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct NamedFactory {
  std::string name;
  ScheduleFactory make;
};

inline constexpr RunLength kEveryRun{
    .num_epochs = 10, .updates_per_epoch = 100, .total_updates = 1000};

inline std::vector<NamedFactory> EverySchedule() {
  return {
      {"Chained", Chained({Linear(), Step({.every = Epochs(2)})})},
      {"Constant", Constant({.ratio = 0.5, .length = Epochs(1)})},
      {"Cosine", Cosine({.warmup = Epochs(1),
                         .cooldown = Epochs(0.5),
                         .min_ratio = 0.01,
                         .k_decay = 1.5,
                         .cycles = 3,
                         .cycle_mul = 2,
                         .cycle_decay = 0.5})},
      {"CosineAnnealing", CosineAnnealing({.half_period = Epochs(3)})},
      {"Cyclic", Cyclic({.peak_ratio = 10,
                         .up = Epochs(1),
                         .mode = CyclicMode::kExpRange,
                         .gamma = 0.999})},
      {"Exponential", Exponential({.gamma = 0.9, .every = Epochs(1)})},
      {"InverseSqrt", InverseSqrt({.warmup = Epochs(1)})},
      {"Lambda", Lambda([](int64_t update, double base) {
         return base / std::sqrt(1.0 + static_cast<double>(update));
       })},
      {"Linear", Linear()},
      {"MultiStep", MultiStep({.at = Epochs({3, 6, 8})})},
      {"Noam", Noam({.d_model = 512, .warmup = Epochs(1)})},
      {"OneCycle", OneCycle({.three_phase = true})},
      {"OneCycleMomentum", OneCycleMomentum()},
      {"Polynomial", Polynomial({.power = 2, .min_value = 1e-5})},
      {"Sequential", Sequential({{Constant(), Epochs(2)}, {Cosine()}})},
      {"Step", Step({.every = Epochs(3)})},
      {"WarmRestarts", WarmRestarts({.period = Epochs(1), .period_mul = 2})},
      {"Warmup", Warmup({.length = Epochs(1)}, CosineAnnealing())},
      {"WarmupStableDecay",
       WarmupStableDecay({.warmup = Epochs(1), .decay = Epochs(2)})},
  };
}

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_TESTING_EVERY_SCHEDULE_H_
