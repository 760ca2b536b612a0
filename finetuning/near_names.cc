#include "finetuning/near_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace trainyard {
namespace {

// Edit distance between pattern and name, where a star matches characters at no
// cost.
size_t Distance(std::string_view pattern, std::string_view name) {
  std::vector<size_t> row(name.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (const char wanted : pattern) {
    const bool star = wanted == '*';
    size_t diagonal = row[0];
    row[0] += star ? 0 : 1;
    for (size_t i = 1; i < row.size(); ++i) {
      const size_t above = row[i];
      if (star) {
        row[i] = std::min(above, row[i - 1]);
      } else {
        const bool same = wanted == '?' || wanted == name[i - 1];
        row[i] =
            std::min({diagonal + (same ? 0 : 1), above + 1, row[i - 1] + 1});
      }
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> NearNames(std::string_view pattern,
                                   const std::vector<std::string>& names,
                                   size_t most) {
  std::vector<std::pair<size_t, size_t>> order;
  for (size_t i = 0; i < names.size(); ++i) {
    order.emplace_back(Distance(pattern, names[i]), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> nearest;
  for (size_t i = 0; i < std::min(most, order.size()); ++i) {
    nearest.push_back(names[order[i].second]);
  }
  return nearest;
}

std::string QuotedNearNames(std::string_view pattern,
                            const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : NearNames(pattern, names)) {
    text += (text.empty() ? "\"" : ", \"") + name + "\"";
  }
  return text.empty() ? "none" : text;
}

}  // namespace trainyard
