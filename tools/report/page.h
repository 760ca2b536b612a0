// Page makes the report: one HTML file that loads no other file.
//
//   Page(DataJson(runs, detail.points, /*live=*/false),
//        FineDataJson(runs, detail.points, detail.bytes)));
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_REPORT_PAGE_H_
#define TRAINYARD_TOOLS_REPORT_PAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/report/run_data.h"

namespace trainyard {

// The data of the page. `live`: the page polls its server for new data.
std::string DataJson(const std::vector<RunData>& runs, size_t most_points,
                     bool live);

// The additional points for zooming, in about this many bytes.
std::string FineDataJson(const std::vector<RunData>& runs, size_t most_points,
                         size_t bytes);

// Returns the HTML. If `fine_json` is "null", the page requests it from its
// server.
std::string Page(const std::string& data_json, const std::string& fine_json);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_PAGE_H_
