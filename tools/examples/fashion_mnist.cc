// Trains a small convolutional network on Fashion-MNIST, in one process:
//
//   tools/bazel run //tools/examples:fashion_mnist -- --epochs=5
#include <c10/util/Exception.h>

#include <memory>
#include <string>

#include "backends/make_single_backend.h"
#include "tools/examples/fashion_mnist_run.h"

namespace trainyard {
namespace {

// Without the backends for several processes the program compiles in less time.
std::unique_ptr<Backend> Make(const std::string& name) {
  for (const char* const several : {"ddp", "zero1", "zero2", "fsdp"}) {
    TORCH_CHECK_VALUE(!name.starts_with(several), "--backend=", name,
                      " is for several processes; run fashion_mnist_ranks: "
                      "tools/bazel run //tools/launch -- --nproc=2 -- "
                      "fashion_mnist_ranks --backend=",
                      name);
  }
  return MakeSingleBackend(name);
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  return trainyard::TrainFashionMnist(argc, argv, trainyard::Make);
}
