#include "trainer/io/quoted_name.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <cstddef>

namespace trainyard {

std::string QuotedName(std::string_view name) {
  constexpr size_t kShown = 100;
  const bool cut = name.size() > kShown;
  return absl::StrCat("\"",
                      absl::CHexEscape(absl::string_view(
                          name.data(), cut ? kShown : name.size())),
                      cut ? "\"..." : "\"");
}

}  // namespace trainyard
