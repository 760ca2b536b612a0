// What one value costs: it is paid for every group before every update.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>

#include "schedulers/schedule.h"
#include "schedulers/testing/every_schedule.h"

namespace trainyard {
namespace {

void ValueAt(benchmark::State& state, const ScheduleFactory& make) {
  const std::unique_ptr<Schedule> schedule = make(kEveryRun);
  int64_t update = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(schedule->ValueAt(update, 0.1));
    update = (update + 1) % *kEveryRun.total_updates;
  }
}

// Registered before main, as benchmarks are.
const bool kRegistered = [] {
  for (const NamedFactory& tested : EverySchedule()) {
    benchmark::RegisterBenchmark(tested.name.c_str(),
                                 [make = tested.make](benchmark::State& state) {
                                   ValueAt(state, make);
                                 });
  }
  return true;
}();

}  // namespace
}  // namespace trainyard
