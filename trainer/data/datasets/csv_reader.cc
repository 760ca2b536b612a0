#include "trainer/data/datasets/csv_reader.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

namespace trainyard {

CsvReader::CsvReader(std::string_view text, char separator)
    : text_(text), separator_(separator) {
  // Skip the byte order mark that spreadsheets write.
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
}

absl::Status CsvReader::QuotedCell(std::string& cell) {
  const int64_t opened = line_;
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\n') ++line_;
    if (text_[at_] != '"') {
      cell += text_[at_];
    } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
      cell += '"';
      ++at_;
    } else {
      ++at_;
      const bool ends = at_ == text_.size() || text_[at_] == separator_ ||
                        text_[at_] == '\n' || text_[at_] == '\r';
      if (ends) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat(
          "line ", line_, ": there is text after a closing quote"));
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("line ", opened, ": a quote is not closed"));
}

absl::StatusOr<bool> CsvReader::NextRow(std::vector<std::string>& cells) {
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) {
    if (text_[at_++] == '\n') ++line_;
  }
  if (at_ == text_.size()) return false;
  row_line_ = line_;
  cells.clear();
  while (true) {
    std::string& cell = cells.emplace_back();
    if (at_ < text_.size() && text_[at_] == '"') {
      if (absl::Status status = QuotedCell(cell); !status.ok()) return status;
    } else {
      const char ends[] = {separator_, '\n', '\r'};
      const size_t end = std::min(
          text_.find_first_of(std::string_view(ends, 3), at_), text_.size());
      cell.assign(text_.substr(at_, end - at_));
      at_ = end;
    }
    if (at_ == text_.size() || text_[at_] != separator_) break;
    ++at_;
  }
  if (at_ < text_.size() && text_[at_] == '\r') ++at_;
  if (at_ < text_.size() && text_[at_] == '\n') {
    ++at_;
    ++line_;
  }
  return true;
}

}  // namespace trainyard
