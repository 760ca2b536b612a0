#include "tools/inspect/schedule_tool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "schedulers/schedule.h"
#include "tools/cli/settings.h"
#include "tools/inspect/line_plot.h"
#include "tools/inspect/named_schedule.h"
#include "tools/inspect/svg_plot.h"
#include "tools/inspect/text_plot.h"

namespace trainyard {
namespace {

// More would be a typing error, and a long wait.
constexpr int64_t kMostUpdates = 100'000'000;

constexpr char kUsage[] =
    R"(Shows the values of a schedule: a table, a plot on a terminal, an SVG file.

  schedule --schedule=cosine --lr=3e-3 --epochs=5 --updates_per_epoch=469 \
      --warmup_epochs=1 --min_ratio=0.01 --svg=cosine.svg

  --schedule=NAME           one of those below
  --lr=X                    the configured value (default 1)
  --epochs=N                length of the run (default 1)
  --updates_per_epoch=N     (default 1000)
  --total_updates=N         where a limit ends the run (default all epochs)
  --field=NAME              what is scheduled, for labels (default lr)
  --rows=N                  rows of the table (default 21; 0: none)
  --svg=FILE                write the plot there
  --plot=true|false         draw it here (default: on a terminal)

Schedules and their settings, where NAME* is given as --NAME_updates=N or
--NAME_epochs=X. All take warmup* too, and all but noam warmup_start_value or
warmup_start_ratio. What is composed in code, or follows a metric, is not here.

)";

struct Run {
  RunLength length;
  double base = 1;
  std::string field;
};

int64_t AtLeast(Settings& settings, const char* name, int64_t otherwise,
                int64_t least) {
  const int64_t value = settings.Integer(name, otherwise);
  if (value < least || value > kMostUpdates) {
    throw std::invalid_argument("--" + std::string(name) + " is '" +
                                std::to_string(value) + "', want " +
                                std::to_string(least) + " to " +
                                std::to_string(kMostUpdates));
  }
  return value;
}

Run ReadRun(Settings& settings) {
  Run run;
  run.length.num_epochs = AtLeast(settings, "epochs", 1, 1);
  run.length.updates_per_epoch =
      AtLeast(settings, "updates_per_epoch", 1000, 1);
  run.length.total_updates =
      AtLeast(settings, "total_updates",
              run.length.num_epochs * run.length.updates_per_epoch, 1);
  run.base = settings.Number("lr", 1);
  run.field = settings.Text("field", "lr");
  return run;
}

void PrintTable(const LinePlot& plot, const Run& run, int64_t rows,
                std::ostream& out) {
  if (rows == 0) return;
  char line[96];
  std::snprintf(line, sizeof(line), "%10s %10s %16s %10s\n", "update", "epoch",
                run.field.c_str(), "of base");
  out << line;
  const auto last = static_cast<int64_t>(plot.values.size()) - 1;
  const int64_t steps = std::max<int64_t>(1, std::min(rows - 1, last));
  for (int64_t i = 0; i <= steps && i * last / steps <= last; ++i) {
    const int64_t update = i * last / steps;
    const double value = plot.values[static_cast<size_t>(update)];
    std::snprintf(line, sizeof(line), "%10lld %10.3f %16.9g %9.2f%%\n",
                  static_cast<long long>(update),
                  static_cast<double>(update) /
                      static_cast<double>(run.length.updates_per_epoch),
                  value, run.base == 0 ? 0 : 100 * value / run.base);
    out << line;
    if (last == 0) break;
  }
}

void WriteSvg(const LinePlot& plot, const std::string& path,
              std::ostream& out) {
  std::ofstream file(path);
  file << ToSvg(plot);
  file.close();
  if (!file) throw std::runtime_error("--svg: cannot write '" + path + "'");
  out << "wrote " << path << "\n";
}

void Show(Settings& settings, bool terminal, std::ostream& out) {
  const std::string name = settings.Text("schedule", "");
  if (name.empty()) {
    throw std::invalid_argument("--schedule is not given; see --help");
  }
  const Run run = ReadRun(settings);
  const int64_t rows = AtLeast(settings, "rows", 21, 0);
  const std::string svg = settings.Text("svg", "");
  const bool plotted = settings.Has("plot") ? settings.Flag("plot") : terminal;
  const ScheduleFactory make = NamedSchedule(name, settings);
  settings.CheckAllUsed(name);
  const std::unique_ptr<Schedule> schedule = make(run.length);

  LinePlot plot{.title = name + ", " + run.field + " " + PlotNumber(run.base) +
                         ", " + std::to_string(run.length.total_updates) +
                         " updates",
                .y_label = run.field,
                .updates_per_epoch = run.length.updates_per_epoch};
  for (int64_t update = 0; update < run.length.total_updates; ++update) {
    plot.values.push_back(schedule->ValueAt(update, run.base));
  }
  PrintTable(plot, run, rows, out);
  if (plotted) out << "\n" << ToText(plot);
  if (!svg.empty()) WriteSvg(plot, svg, out);
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
