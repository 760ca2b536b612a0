#include "tools/inspect/schedule_tool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "schedulers/schedule.h"
#include "tools/cli/settings.h"
#include "tools/inspect/named_schedule.h"
#include "tools/inspect/text_plot.h"

namespace trainyard {
namespace {

// A larger number is probably a typing error.
constexpr int64_t kMostUpdates = 100'000'000;

constexpr char kUsage[] =
    R"(Shows the values of a schedule before you train with it: a table and, on a
terminal, a plot.

  schedule --schedule=cosine --lr=3e-3 --epochs=5 --updates_per_epoch=469 \
      --warmup_epochs=1 --min_ratio=0.01

  --schedule=NAME           one of the schedules below
  --lr=X                    the base value (default 1)
  --epochs=N                length of the run (default 1)
  --updates_per_epoch=N     (default 1000)
  --total_updates=N         length in updates, if the run ends before all epochs
  --field=NAME              name of the scheduled value, for labels (default lr)
  --rows=N                  rows of the table (default 21; 0: no table)
  --plot=true|false         draw the plot (default: only on a terminal)

Schedules and their settings. Give a setting NAME* as --NAME_updates=N or
--NAME_epochs=X. All schedules also accept warmup*; all except noam accept
warmup_start_value or warmup_start_ratio. Schedules that are composed in code or
that follow a metric are not available here.

)";

struct Run {
  int64_t num_epochs = 0;
  int64_t updates_per_epoch = 0;
  int64_t total_updates = 0;
  double base = 1;
  std::string field;
};

Run ReadRun(Settings& settings) {
  Run run;
  run.num_epochs = settings.Integer("epochs", 1, 1, kMostUpdates);
  run.updates_per_epoch =
      settings.Integer("updates_per_epoch", 1000, 1, kMostUpdates);
  run.total_updates = settings.Integer(
      "total_updates", run.num_epochs * run.updates_per_epoch, 1, kMostUpdates);
  run.base = settings.Number("lr", 1);
  run.field = settings.Text("field", "lr");
  return run;
}

void PrintTable(const std::vector<double>& values, const Run& run, int64_t rows,
                std::ostream& out) {
  if (rows == 0) return;
  char line[96];
  std::snprintf(line, sizeof(line), "%10s %10s %16s %10s\n", "update", "epoch",
                run.field.c_str(), "of base");
  out << line;
  const auto last = static_cast<int64_t>(values.size()) - 1;
  const int64_t steps = std::max<int64_t>(1, std::min(rows - 1, last));
  for (int64_t i = 0; i <= steps && i * last / steps <= last; ++i) {
    const int64_t update = i * last / steps;
    const double value = values[static_cast<size_t>(update)];
    std::snprintf(line, sizeof(line), "%10lld %10.3f %16.9g %9.2f%%\n",
                  static_cast<long long>(update),
                  static_cast<double>(update) /
                      static_cast<double>(run.updates_per_epoch),
                  value, run.base == 0 ? 0 : 100 * value / run.base);
    out << line;
    if (last == 0) break;
  }
}

void Show(Settings& settings, bool terminal, std::ostream& out) {
  const std::string name = settings.Text("schedule", "");
  if (name.empty()) {
    throw std::invalid_argument("--schedule is not given; see --help");
  }
  const Run run = ReadRun(settings);
  const int64_t rows = settings.Integer("rows", 21, 0, kMostUpdates);
  const bool plotted = settings.Has("plot") ? settings.Flag("plot") : terminal;
  const ScheduleFactory make = NamedSchedule(name, settings);
  settings.CheckAllUsed(name);
  const std::unique_ptr<Schedule> schedule =
      make({.num_epochs = run.num_epochs,
            .updates_per_epoch = run.updates_per_epoch,
            .total_updates = run.total_updates});

  TextPlot plot{.title = name + ", " + run.field + " " + PlotNumber(run.base) +
                         ", " + std::to_string(run.total_updates) + " updates"};
  for (int64_t update = 0; update < run.total_updates; ++update) {
    plot.values.push_back(schedule->ValueAt(update, run.base));
  }
  PrintTable(plot.values, run, rows, out);
  if (plotted) out << "\n" << ToText(plot);
}

}  // namespace

int RunScheduleTool(const std::vector<std::string>& arguments, bool terminal,
                    std::ostream& out, std::ostream& err) {
  try {
    Settings settings(arguments);
    if (settings.Flag("help")) {
      out << kUsage << DescribeSchedules();
    } else {
      Show(settings, terminal, out);
    }
    return 0;
  } catch (const std::exception& error) {
    err << "schedule: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace trainyard
