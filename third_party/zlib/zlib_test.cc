// What was compressed comes back, and damage is noticed.
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace {

std::string Compressed(const std::string& text) {
  std::string packed(compressBound(text.size()), '\0');
  uLongf size = packed.size();
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(text.data()), text.size()),
            Z_OK);
  packed.resize(size);
  return packed;
}

int Uncompress(const std::string& packed, std::string& text) {
  uLongf size = text.size();
  return uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                    reinterpret_cast<const Bytef*>(packed.data()),
                    packed.size());
}

TEST(ZlibTest, RestoresWhatWasCompressed) {
  const std::string text(1000, 'x');
  const std::string packed = Compressed(text);
  EXPECT_LT(packed.size(), 100U);
  std::string restored(text.size(), '\0');
  EXPECT_EQ(Uncompress(packed, restored), Z_OK);
  EXPECT_EQ(restored, text);
}

TEST(ZlibTest, NoticesDamage) {
  std::string packed = Compressed(std::string(1000, 'x'));
  packed.back() ^= 1;
  std::string restored(1000, '\0');
  EXPECT_EQ(Uncompress(packed, restored), Z_DATA_ERROR);
}

}  // namespace
