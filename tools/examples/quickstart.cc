// The program of README.md; its argument is another folder of data:
//
//   tools/bazel run //tools/examples:quickstart
#include "backends/make_backend.h"
#include "schedulers/cosine.h"
#include "tools/examples/conv_net.h"
#include "tools/examples/fashion_mnist_data.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/clip.h"
#include "trainer/or_throw.h"
#include "trainer/supervised.h"
#include "trainer/train_unit.h"
#include "trainer/trainer.h"

using namespace trainyard;  // NOLINT: an example, in a program of its own

int main(int argc, char** argv) {
  return Main([&] {
    const FashionMnist data =
        OrThrow(LoadFashionMnist(argc > 1 ? argv[1] : kFashionMnistFolder));
    ConvNet model;  // an ordinary torch::nn module
    AdamW optimizer(*model, {.lr = 3e-3});
    const auto backend = MakeBackend("sp");
    Trainer trainer(
        Supervised(model, CrossEntropy(), {{"accuracy", Accuracy()}}),
        optimizer, *backend);
    const RunResult result =
        trainer.Train({.data = data.train,
                       .eval_data = data.test,
                       .length = Epochs(5),
                       .per_device_batch_size = 128,
                       .clip = ClipNorm(1.0),
                       .schedule = Cosine({.warmup = Epochs(0.5)})});
    return ExitCode(result.ending);
  });
}
