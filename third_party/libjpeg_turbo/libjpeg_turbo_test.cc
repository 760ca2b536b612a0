// What was encoded comes back, nearly.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

// After <cstdio>, whose FILE it needs.
#include <jpeglib.h>

namespace {

constexpr unsigned kSide = 16;

TEST(LibjpegTurboTest, RestoresAGreySquare) {
  std::vector<JSAMPLE> row(kSide, 100);
  jpeg_error_mgr errors;
  jpeg_compress_struct writer;
  writer.err = jpeg_std_error(&errors);
  jpeg_create_compress(&writer);
  unsigned char* packed = nullptr;
  unsigned long size = 0;  // NOLINT: the library's type
  jpeg_mem_dest(&writer, &packed, &size);
  writer.image_width = writer.image_height = kSide;
  writer.input_components = 1;
  writer.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&writer);
  jpeg_start_compress(&writer, TRUE);
  JSAMPROW rows[] = {row.data()};
  for (unsigned y = 0; y < kSide; ++y) jpeg_write_scanlines(&writer, rows, 1);
  jpeg_finish_compress(&writer);
  jpeg_destroy_compress(&writer);

  jpeg_decompress_struct reader;
  reader.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&reader);
  jpeg_mem_src(&reader, packed, size);
  jpeg_read_header(&reader, TRUE);
  jpeg_start_decompress(&reader);
  EXPECT_EQ(reader.output_width, kSide);
  row.assign(kSide, 0);
  for (unsigned y = 0; y < kSide; ++y) {
    jpeg_read_scanlines(&reader, rows, 1);
    for (const JSAMPLE pixel : row) ASSERT_NEAR(pixel, 100, 2);
  }
  jpeg_finish_decompress(&reader);
  jpeg_destroy_decompress(&reader);
  std::free(packed);
}

}  // namespace
