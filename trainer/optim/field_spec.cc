#include "trainer/optim/field_spec.h"

#include <c10/util/Exception.h>

#include <cmath>
#include <sstream>

namespace trainyard {
namespace {

bool Contains(const FieldRange& range, double value) {
  if (!std::isfinite(value)) return false;
  if (range.without_least ? value <= range.least : value < range.least) {
    return false;
  }
  return range.without_most ? value < range.most : value <= range.most;
}

std::string Describe(const FieldRange& range) {
  std::ostringstream text;
  const bool lower = std::isfinite(range.least);
  const bool upper = std::isfinite(range.most);
  if (!(lower && upper)) text << "a number";
  if (lower) {
    if (!upper) text << (range.without_least ? " " : " of ");
    text << (range.without_least ? "above " : "at least ") << range.least;
    if (upper) text << " and ";
  }
  if (upper) {
    if (!lower) text << (range.without_most ? " " : " of ");
    text << (range.without_most ? "less than " : "at most ") << range.most;
  }
  return text.str();
}

}  // namespace

void FieldSpec::Check(const std::string& optimizer, double group_value) const {
  TORCH_CHECK_VALUE(Contains(range, group_value), optimizer, ": ", name, " is ",
                    group_value, "; it must be ", Describe(range));
}

}  // namespace trainyard
