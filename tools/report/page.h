// Page is the report as one HTML file that needs nothing else.
//
//   const std::string html = Page(DataJson(runs, 4096, /*live=*/false),
//                                 FineDataJson(runs, 4096, 8 << 20));
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_REPORT_PAGE_H_
#define TRAINYARD_TOOLS_REPORT_PAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/report/run_data.h"

namespace trainyard {

// What the page shows. `live`: it asks its server for more.
std::string DataJson(const std::vector<RunData>& runs, size_t most_points,
                     bool live);

// What it shows when it is zoomed, in about so many bytes. "null": it asks its
// server for it.
std::string FineDataJson(const std::vector<RunData>& runs, size_t most_points,
                         size_t bytes);

std::string Page(const std::string& data_json, const std::string& fine_json);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_PAGE_H_
