// Shapes of the parameters of networks, for benchmarks.
//
//   for (const auto& sizes : shapes) gradients.push_back(at::randn(sizes));
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_OPTIM_TESTING_BENCHMARK_SHAPES_H_
#define TRAINYARD_TRAINER_OPTIM_TESTING_BENCHMARK_SHAPES_H_

#include <cstdint>
#include <vector>

namespace trainyard {

using Shapes = std::vector<std::vector<int64_t>>;

// Convolutions, each followed by weight and bias of its norm; at the end the
// weight and bias of a linear layer.
inline Shapes ResNet50() {
  Shapes shapes;
  const auto conv = [&shapes](int64_t out, int64_t in, int64_t kernel) {
    shapes.insert(shapes.end(), {{out, in, kernel, kernel}, {out}, {out}});
  };
  conv(64, 3, 7);
  int64_t in = 64, width = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      conv(width, in, 1);
      conv(width, width, 3);
      conv(4 * width, width, 1);
      if (block == 0) conv(4 * width, in, 1);
      in = 4 * width;
    }
    width *= 2;
  }
  shapes.insert(shapes.end(), {{1000, in}, {1000}});
  return shapes;
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_TESTING_BENCHMARK_SHAPES_H_
