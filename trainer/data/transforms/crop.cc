#include "trainer/data/transforms/crop.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace trainyard {

at::Tensor RandomCrop(const at::Tensor& images,
                      const RandomCropOptions& options, BatchRandom& random) {
  CheckImages("RandomCrop", images, random);
  const int64_t height = images.size(-2);
  const int64_t width = images.size(-1);
  const int64_t spare_rows = height + 2 * options.padding - options.height;
  const int64_t spare_columns = width + 2 * options.padding - options.width;
  TORCH_CHECK_VALUE(options.padding >= 0, "RandomCrop: padding is ",
                    options.padding);
  TORCH_CHECK_VALUE(options.height >= 1 && options.width >= 1 &&
                        spare_rows >= 0 && spare_columns >= 0,
                    "RandomCrop: ", options.height, " x ", options.width,
                    " cannot be cut from images of ", height, " x ", width,
                    " padded by ", options.padding);
  const at::Tensor in = images.cpu().contiguous();
  std::vector<int64_t> shape = in.sizes().vec();
  shape[shape.size() - 2] = options.height;
  shape[shape.size() - 1] = options.width;
  const at::Tensor out = at::full(shape, options.fill, in.options());
  const auto bytes = static_cast<int64_t>(in.element_size());
  const int64_t planes =
      in.numel() / std::max<int64_t>(in.size(0) * height * width, 1);
  const char* from = static_cast<const char*>(in.const_data_ptr());
  char* to = static_cast<char*>(out.data_ptr());
  for (SampleRandom& source : random) {
    // The position of the result's corner in the image.
    const int64_t top = source.Below(spare_rows + 1) - options.padding;
    const int64_t left = source.Below(spare_columns + 1) - options.padding;
    const int64_t first = std::max<int64_t>(left, 0);
    const int64_t count = std::min(left + options.width, width) - first;
    for (int64_t plane = 0; plane < planes; ++plane) {
      for (int64_t y = 0; y < options.height && count > 0; ++y) {
        if (top + y < 0 || top + y >= height) continue;
        std::memcpy(to + (y * options.width + first - left) * bytes,
                    from + ((top + y) * width + first) * bytes,
                    static_cast<size_t>(count * bytes));
      }
      from += height * width * bytes;
      to += options.height * options.width * bytes;
    }
  }
  return out;
}

at::Tensor PadImages(const at::Tensor& images, int64_t pixels, double fill) {
  TORCH_CHECK_VALUE(pixels >= 0, "PadImages: pixels is ", pixels);
  return at::constant_pad_nd(images, {pixels, pixels, pixels, pixels}, fill);
}

}  // namespace trainyard
