#include "tools/report/report_tool.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/cli/settings.h"
#include "tools/report/page.h"
#include "tools/report/run_data.h"
#include "tools/report/server.h"
#include "trainer/io/atomic_file.h"

namespace trainyard {
namespace {

constexpr char kUsage[] =
    R"(Shows runs that //callbacks/recording:track recorded: curves, final values,
configuration.

  report RUN_DIR...              writes one HTML file: RUN_DIR/report.html or, for
                                 several runs, report.html in this folder
  report --serve RUN_DIR...      serves the same page to a browser on this host
                                 and updates it while the runs train

  --out=FILE       the file to write
  --points=N       largest number of points per curve; more points are merged
                   (default 4096)
  --zoom_mb=N      size limit, in megabytes, of the additional points for zooming
                   (default 8)
  --port=PORT      port of --serve (default 6061; 0: any free port)
  --host=ADDRESS   address of --serve (default 127.0.0.1: only this host)
)";

void Write(const std::string& path, const std::string& html) {
  const absl::Status written = WriteFileAtomically(path, html);
  if (!written.ok()) throw std::runtime_error(std::string(written.message()));
}

struct Detail {
  size_t points;
  // Of the additional points for zooming.
  size_t bytes;
};

[[noreturn]] void Serve(std::vector<RunData>& runs, const Detail& detail,
                        const std::string& host, int port, std::ostream& out) {
  Server server(host, port);
  out << "http://" << host << ":" << server.port() << "/" << std::endl;
  server.Run([&](const std::string& path) -> std::optional<Answer> {
    if (path == "/fine.json") {
      return Answer{.type = "application/json",
                    .body = FineDataJson(runs, detail.points, detail.bytes)};
    }
    if (path != "/" && path != "/data.json") return std::nullopt;
    for (RunData& run : runs) run.Refresh();
    const std::string data = DataJson(runs, detail.points, /*live=*/true);
    if (path == "/") {
      return Answer{.type = "text/html", .body = Page(data, "null")};
    }
    return Answer{.type = "application/json", .body = data};
  });
}

void Run(const std::vector<std::string>& arguments, std::ostream& out) {
  std::vector<std::string> flags;
  std::vector<std::string> folders;
  for (const std::string& argument : arguments) {
    (argument.rfind("--", 0) == 0 ? flags : folders).push_back(argument);
  }
  Settings settings(flags);
  if (settings.Flag("help")) {
    out << kUsage;
    return;
  }
  const Detail detail{
      .points =
          static_cast<size_t>(settings.Integer("points", 4096, 2, 1 << 20)),
      .bytes = static_cast<size_t>(settings.Integer("zoom_mb", 8, 0, 1024))
               << 20};
  const auto port = static_cast<int>(settings.Integer("port", 6061, 0, 65535));
  const std::string host = settings.Text("host", "127.0.0.1");
  const bool serve = settings.Flag("serve");
  std::string path = settings.Text("out", "");
  settings.CheckAllUsed("report");
  if (folders.empty()) {
    throw std::invalid_argument("no run folder is given; see --help");
  }
  std::vector<RunData> runs;
  for (const std::string& folder : folders) {
    if (!std::filesystem::is_directory(folder)) {
      throw std::invalid_argument("there is no folder " + folder);
    }
    runs.emplace_back(folder);
  }
  if (serve) Serve(runs, detail, host, port, out);
  for (RunData& run : runs) run.Refresh();
  if (path.empty()) {
    path = runs.size() == 1 ? folders.front() + "/report.html" : "report.html";
  }
  Write(path, Page(DataJson(runs, detail.points, /*live=*/false),
                   FineDataJson(runs, detail.points, detail.bytes)));
  out << "wrote " << path << "\n";
}

}  // namespace

int RunReportTool(const std::vector<std::string>& arguments, std::ostream& out,
                  std::ostream& err) {
  try {
    Run(arguments, out);
    return 0;
  } catch (const std::exception& error) {
    err << "report: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace trainyard
