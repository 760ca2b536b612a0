#include "tools/examples/char_text.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <fstream>

namespace trainyard {
namespace {

std::vector<int64_t> RowOf(const at::Tensor& numbers, int64_t row) {
  const int64_t width = numbers.size(1);
  const int64_t* data = numbers.const_data_ptr<int64_t>() + row * width;
  return {data, data + width};
}

TEST(CharTextTest, ReadsParagraphsAndKeepsEveryTenth) {
  const std::string path = ::testing::TempDir() + "/text";
  std::ofstream file(path);
  for (int i = 0; i < 19; ++i) file << "ab\n  cd\n\n\n";
  file << "abcdef gh";
  file.close();
  const CharText text = ReadCharText(path, 6);
  EXPECT_EQ(text.alphabet, " abcdefgh");
  EXPECT_EQ(text.vocabulary(), 10);
  // The last paragraph is longer than six and is split into two.
  EXPECT_EQ(text.train.sizes(), at::IntArrayRef({19, 7}));
  EXPECT_EQ(text.test.sizes(), at::IntArrayRef({2, 7}));
  EXPECT_EQ(text.Decode(RowOf(text.train, 0)), "ab cd ");
  EXPECT_EQ(RowOf(text.train, 0)[0], kPadding);
  EXPECT_EQ(text.Decode(RowOf(text.test, 1)), "abcdef");
  EXPECT_EQ(text.Decode(RowOf(text.train, 18)), "gh");
}

TEST(CharTextTest, CutsAtABlank) {
  const std::string path = ::testing::TempDir() + "/blanks";
  std::ofstream file(path);
  for (int i = 0; i < 10; ++i) file << "abcde fghij klmno\n\n";
  file.close();
  const CharText text = ReadCharText(path, 6);
  EXPECT_EQ(text.train.sizes(), at::IntArrayRef({27, 7}));
  EXPECT_EQ(text.Decode(RowOf(text.train, 0)), "abcde ");
  EXPECT_EQ(text.Decode(RowOf(text.train, 1)), "fghij ");
  EXPECT_EQ(text.Decode(RowOf(text.train, 2)), "klmno ");
}

TEST(CharTextTest, SkipsCharactersThatAreNotInTheAlphabet) {
  const std::string path = ::testing::TempDir() + "/umlauts";
  std::ofstream file(path);
  for (int i = 0; i < 10; ++i) file << "gr\xc3\xb6\xc3\x9f" << "er\n\n";
  file.close();
  const CharText text = ReadCharText(path, 6, PrintableAscii());
  EXPECT_EQ(text.vocabulary(), 96);
  EXPECT_EQ(text.Decode(RowOf(text.test, 0)), "grer ");
}

TEST(CharTextTest, RejectsATextWithoutParagraphs) {
  EXPECT_THROW(ReadCharText("/not/there", 6), c10::ValueError);
  const std::string path = ::testing::TempDir() + "/short";
  std::ofstream(path) << "one\n\ntwo\n";
  EXPECT_THROW(ReadCharText(path, 6), c10::ValueError);
}

}  // namespace
}  // namespace trainyard
