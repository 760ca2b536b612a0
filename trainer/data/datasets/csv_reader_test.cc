#include "trainer/data/datasets/csv_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Cells = std::vector<std::string>;

std::vector<Cells> Rows(std::string_view text, char separator = ',') {
  CsvReader reader(text, separator);
  std::vector<Cells> rows;
  Cells cells;
  while (true) {
    const absl::StatusOr<bool> more = reader.NextRow(cells);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) return rows;
    rows.push_back(cells);
  }
}

std::string ErrorOf(std::string_view text) {
  CsvReader reader(text, ',');
  Cells cells;
  while (true) {
    const absl::StatusOr<bool> more = reader.NextRow(cells);
    if (!more.ok()) return std::string(more.status().message());
    if (!*more) return "none";
  }
}

TEST(CsvReaderTest, SplitsRowsIntoCells) {
  EXPECT_THAT(Rows("a,b\n1,2\n"),
              ElementsAre(Cells{"a", "b"}, Cells{"1", "2"}));
  EXPECT_THAT(Rows("a;b", ';'), ElementsAre(Cells{"a", "b"}));
  EXPECT_THAT(Rows("\n\na,,b,\r\n\r\nc"),
              ElementsAre(Cells{"a", "", "b", ""}, Cells{"c"}));
  EXPECT_THAT(Rows("\xEF\xBB\xBFname\n"), ElementsAre(Cells{"name"}));
  EXPECT_THAT(Rows(""), ElementsAre());
}

TEST(CsvReaderTest, QuotedCellsMayContainSeparatorsAndLineBreaks) {
  EXPECT_THAT(Rows("\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\"\nx,\"\",y"),
              ElementsAre(Cells{"a,b", "say \"hi\"", "two\nlines"},
                          Cells{"x", "", "y"}));
}

TEST(CsvReaderTest, CountsLines) {
  CsvReader reader("a\n\"two\nlines\"\n\nlast", ',');
  Cells cells;
  for (const int64_t line : {1, 2, 5}) {
    ASSERT_TRUE(*reader.NextRow(cells));
    EXPECT_EQ(reader.line(), line);
  }
}

TEST(CsvReaderTest, NamesTheLineOfABadQuote) {
  EXPECT_THAT(ErrorOf("a\nb,\"c\nd"), HasSubstr("line 2: a quote"));
  EXPECT_THAT(ErrorOf("a\n\"b\"c"), HasSubstr("line 2: there is text after"));
}

}  // namespace
}  // namespace trainyard
