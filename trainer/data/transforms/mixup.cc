#include "trainer/data/transforms/mixup.h"

#include <ATen/ops/one_hot.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <vector>

#include "trainer/data/transforms/cutout.h"

namespace trainyard {
namespace {

void Check(const char* name, const Example& batch, const MixOptions& options,
           const BatchRandom& random) {
  CheckImages(name, batch.input, random);
  TORCH_CHECK_VALUE(options.alpha > 0, name, ": alpha is ", options.alpha,
                    "; it must be above 0");
  TORCH_CHECK_VALUE(options.num_classes >= 1, name, ": num_classes is ",
                    options.num_classes, "; it must be at least 1");
  TORCH_CHECK_VALUE(batch.input.is_floating_point(), name,
                    ": images must be floats; normalise them first");
}

// Share `own` of each row, plus the rest from the row before it.
at::Tensor Blend(const at::Tensor& rows, const std::vector<float>& own) {
  std::vector<int64_t> shape(static_cast<size_t>(rows.dim()), 1);
  shape[0] = rows.size(0);
  const at::Tensor share = at::tensor(own, rows.options()).view(shape);
  return rows.mul(share).add_(rows.roll(1, 0).mul_(share.neg().add_(1)));
}

at::Tensor Targets(const Example& batch, const MixOptions& options,
                   const std::vector<float>& own) {
  return Blend(at::one_hot(batch.target, options.num_classes).to(at::kFloat),
               own);
}

}  // namespace

Example Mixup(const Example& batch, const MixOptions& options,
              BatchRandom& random) {
  Check("Mixup", batch, options, random);
  std::vector<float> own;
  for (SampleRandom& source : random) {
    own.push_back(
        static_cast<float>(source.Beta(options.alpha, options.alpha)));
  }
  return {Blend(batch.input, own), Targets(batch, options, own)};
}

Example Cutmix(const Example& batch, const MixOptions& options,
               BatchRandom& random) {
  Check("Cutmix", batch, options, random);
  const int64_t height = batch.input.size(-2);
  const int64_t width = batch.input.size(-1);
  const at::Tensor other = batch.input.roll(1, 0);
  at::Tensor mixed = batch.input.clone();
  std::vector<float> own;
  for (int64_t i = 0; i < mixed.size(0); ++i) {
    SampleRandom& source = random[static_cast<size_t>(i)];
    const double side =
        std::sqrt(1 - source.Beta(options.alpha, options.alpha));
    const int64_t row = source.Below(height);
    const int64_t column = source.Below(width);
    const Box box = ClippedBox(
        row, column, static_cast<int64_t>(side * static_cast<double>(height)),
        static_cast<int64_t>(side * static_cast<double>(width)), height, width);
    const auto part = [&](const at::Tensor& images) {
      return images.select(0, i)
          .narrow(-2, box.top, box.height)
          .narrow(-1, box.left, box.width);
    };
    part(mixed).copy_(part(other));
    // The share of the pixels, not the drawn one: the border may cut the box.
    own.push_back(1 - static_cast<float>(box.height * box.width) /
                          static_cast<float>(height * width));
  }
  return {mixed, Targets(batch, options, own)};
}

}  // namespace trainyard
