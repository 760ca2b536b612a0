// RunReportTool is the program `report` without its main; see its --help.
//
//   const int code = RunReportTool({folder, "--out=" + path}, out, err);
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_REPORT_REPORT_TOOL_H_
#define TRAINYARD_TOOLS_REPORT_REPORT_TOOL_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace trainyard {

// Returns the exit code: 0, or 1 after one line on `err`.
int RunReportTool(const std::vector<std::string>& arguments, std::ostream& out,
                  std::ostream& err);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_REPORT_TOOL_H_
