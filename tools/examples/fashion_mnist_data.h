// LoadFashionMnist reads Fashion-MNIST (Zalando): 60,000 training and 10,000
// test images, 28 x 28, ten classes.
//
//   const FashionMnist data =
//       OrThrow(LoadFashionMnist(argc > 1 ? argv[1] : kFashionMnistFolder));
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_EXAMPLES_FASHION_MNIST_DATA_H_
#define TRAINYARD_TOOLS_EXAMPLES_FASHION_MNIST_DATA_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "trainer/data/dataset.h"

namespace trainyard {

// The folder of Debian's package dataset-fashion-mnist.
inline constexpr char kFashionMnistFolder[] =
    "/usr/share/datasets/fashion-mnist";

struct FashionMnist {
  // Batches are of type Example: float images (N x 1 x 28 x 28), normalised to
  // mean 0 and standard deviation 1, and class indices.
  DatasetPtr train;
  DatasetPtr test;
};

// The error names the folder or file and the problem.
absl::StatusOr<FashionMnist> LoadFashionMnist(const std::string& folder);

// The same images, mirrored and shifted at random in each epoch.
DatasetPtr AugmentFashionMnist(DatasetPtr images, uint64_t seed);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_EXAMPLES_FASHION_MNIST_DATA_H_
