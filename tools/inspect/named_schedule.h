// NamedSchedule makes a schedule from its name and command-line settings.
//
//   Settings settings({"--min_ratio=0.1"});
//   ScheduleFactory make = NamedSchedule("cosine", settings);
//
// A schedule without its own warm-up is wrapped in Warmup if the settings ask
// for one.
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_INSPECT_NAMED_SCHEDULE_H_
#define TRAINYARD_TOOLS_INSPECT_NAMED_SCHEDULE_H_

#include <string>

#include "schedulers/schedule.h"
#include "tools/cli/settings.h"

namespace trainyard {

// Throws std::invalid_argument if the name is unknown, a setting is invalid, or
// the schedule rejects its options.
ScheduleFactory NamedSchedule(const std::string& name, Settings& settings);

// One line per schedule: its name and the names of its settings.
std::string DescribeSchedules();

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_NAMED_SCHEDULE_H_
