// Schedules by name, made from command-line settings.
//
//   Settings settings({"--min_ratio=0.1"});
//   ScheduleFactory make = NamedSchedule("cosine", settings);
//
// A schedule without warm-up of its own gets it from Warmup.
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_INSPECT_NAMED_SCHEDULE_H_
#define TRAINYARD_TOOLS_INSPECT_NAMED_SCHEDULE_H_

#include <string>

#include "schedulers/schedule.h"
#include "tools/cli/settings.h"

namespace trainyard {

// Throws std::invalid_argument for an unknown name, a bad setting, and options
// that the schedule refuses.
ScheduleFactory NamedSchedule(const std::string& name, Settings& settings);

// One line per schedule: its name and its settings.
std::string DescribeSchedules();

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_NAMED_SCHEDULE_H_
