// CsvReader splits CSV text (RFC 4180) into rows of cells. Cells are separated
// by commas or another character, and quoted if they contain separators, quotes
// ("" for one) or line breaks. Free of libtorch.
//
//   CsvReader reader(text, ',');
//   while (reader.NextRow(cells).value()) Use(cells);
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

  // Fills `cells` with the next row; returns false at the end. Skips empty
  // lines. InvalidArgument, with the line number, if a quote is not closed or
  // is followed by other text.
  absl::StatusOr<bool> NextRow(std::vector<std::string>& cells);

  // The line on which the last row began, counted from 1.
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
