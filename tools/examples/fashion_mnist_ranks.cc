// The example fashion_mnist in several processes:
//
//   tools/bazel run //tools/launch -- --nproc=2 --
//       fashion_mnist_ranks --backend=ddp
#include <string>

#include "backends/make_backend.h"
#include "tools/examples/fashion_mnist_run.h"

int main(int argc, char** argv) {
  return trainyard::TrainFashionMnist(argc, argv, [](const std::string& name) {
    return trainyard::MakeBackend(name);
  });
}
