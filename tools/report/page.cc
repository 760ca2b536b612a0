#include "tools/report/page.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/run_data.h"

namespace trainyard {
namespace {

// kHtml, kStyle and kScript: the files of the folder page/.
#include "tools/report/page_parts.inc"

void Fill(std::string& page, std::string_view mark, std::string_view text) {
  page.replace(page.find(mark), mark.size(), text);
}

}  // namespace

std::string DataJson(const std::vector<RunData>& runs, size_t most_points,
                     bool live) {
  std::string json =
      std::string("{\"live\":") + (live ? "true" : "false") + ",\"runs\":[";
  for (const RunData& run : runs) {
    if (json.back() != '[') json += ",\n";
    json += run.ToJson(most_points);
  }
  return json + "]}";
}

std::string FineDataJson(const std::vector<RunData>& runs, size_t most_points,
                         size_t bytes) {
  std::string json = "[";
  for (const RunData& run : runs) {
    if (json.back() != '[') json += ",\n";
    json += run.ToFineJson(most_points, bytes / runs.size());
  }
  return json + "]";
}

std::string Page(const std::string& data_json, const std::string& fine_json) {
  std::string page = kHtml;
  Fill(page, "@@STYLE@@", kStyle);
  // In this order, from the end: data may hold any text, a mark too.
  Fill(page, "@@SCRIPT@@", kScript);
  Fill(page, "@@FINE@@", fine_json);
  Fill(page, "@@DATA@@", data_json);
  return page;
}

}  // namespace trainyard
