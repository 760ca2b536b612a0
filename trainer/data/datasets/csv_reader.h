// Reads the cells of a CSV file (RFC 4180): separated by commas or another
// character, quoted where they hold separators, quotes ("" for one) or line
// breaks. Free of libtorch.
//
//   CsvReader reader(text, ',');
//   while (absl::StatusOr<bool> more = reader.NextRow(cells); *more) { … }
//
// Thread-compatible. `text` must outlive the reader.
#ifndef TRAINYARD_TRAINER_DATA_DATASETS_CSV_READER_H_
#define TRAINYARD_TRAINER_DATA_DATASETS_CSV_READER_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

class CsvReader {
 public:
  CsvReader(std::string_view text, char separator);

  // Fills `cells` with the next row; false at the end. Lines without anything
  // are passed over. InvalidArgument, with the line, on a quote that is not
  // closed or has something after it.
  absl::StatusOr<bool> NextRow(std::vector<std::string>& cells);

  // Where the last row began, from 1.
  int64_t line() const { return row_line_; }

 private:
  absl::Status QuotedCell(std::string& cell);

  std::string_view text_;
  char separator_;
  size_t at_ = 0;
  int64_t line_ = 1;
  int64_t row_line_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_CSV_READER_H_
