#include "tools/inspect/hang_tool.h"

#include <exception>
#include <stdexcept>

#include "tools/cli/settings.h"
#include "tools/inspect/hang_report.h"
#include "tools/inspect/rank_calls.h"

namespace trainyard {
namespace {

constexpr char kUsage[] =
    R"(Says which ranks of a run waited in which call for which other ranks, by the
records of their last calls.

  hang FOLDER...      the folders of the records, also of several hosts
      --run=RUN       of this run, if there are records of several; without it:
                      of the last attempt

A rank writes calls-start0-rank0.json when a wait fails, when its main thread has
made no call for half of the timeout (at most a minute), and after SIGQUIT, which
tools/launch passes on to its ranks. The folder is TRAINYARD_RECORD_DIR, else
records/ in the run's folder of checkpoints, else --log_dir of tools/launch.
)";

void RunTool(const std::vector<std::string>& arguments, std::ostream& out) {
  std::vector<std::string> folders, flags;
  for (const std::string& argument : arguments) {
    (argument.starts_with("--") ? flags : folders).push_back(argument);
  }
  Settings settings(flags);
  if (settings.Flag("help")) {
    out << kUsage;
    return;
  }
  const std::string run = settings.Text("run", "");
  settings.CheckAllUsed("hang");
  if (folders.empty()) {
    throw std::invalid_argument("no folder is given; see --help");
  }
  PrintHang(ChooseStart(ReadRecords(folders), run), out);
}

}  // namespace

int RunHangTool(const std::vector<std::string>& arguments, std::ostream& out,
                std::ostream& err) {
  try {
    RunTool(arguments, out);
    return 0;
  } catch (const std::invalid_argument& error) {
    err << "hang: " << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    err << "hang: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace trainyard
