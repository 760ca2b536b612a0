#include "trainer/data/transforms/cutout.h"

#include <c10/util/Exception.h>

#include <algorithm>

namespace trainyard {

Box ClippedBox(int64_t row, int64_t column, int64_t box_height,
               int64_t box_width, int64_t height, int64_t width) {
  const int64_t top = std::max<int64_t>(row - box_height / 2, 0);
  const int64_t left = std::max<int64_t>(column - box_width / 2, 0);
  return {.top = top,
          .left = left,
          .height = std::min(row - box_height / 2 + box_height, height) - top,
          .width = std::min(column - box_width / 2 + box_width, width) - left};
}

at::Tensor Cutout(const at::Tensor& images, const CutoutOptions& options,
                  BatchRandom& random) {
  CheckImages("Cutout", images, random);
  TORCH_CHECK_VALUE(options.size >= 1, "Cutout: size is ", options.size);
  TORCH_CHECK_VALUE(options.probability >= 0 && options.probability <= 1,
                    "Cutout: probability is ", options.probability);
  const int64_t height = images.size(-2);
  const int64_t width = images.size(-1);
  at::Tensor result = images.clone();
  for (int64_t i = 0; i < images.size(0); ++i) {
    SampleRandom& source = random[static_cast<size_t>(i)];
    if (!source.Chance(options.probability)) continue;
    const int64_t row = source.Below(height);
    const int64_t column = source.Below(width);
    const Box box =
        ClippedBox(row, column, options.size, options.size, height, width);
    result.select(0, i)
        .narrow(-2, box.top, box.height)
        .narrow(-1, box.left, box.width)
        .fill_(options.fill);
  }
  return result;
}

}  // namespace trainyard
