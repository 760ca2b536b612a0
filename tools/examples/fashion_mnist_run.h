// The example fashion_mnist, without its choice of backends: the flags, and the
// run that they describe.
//
//   int main(int argc, char** argv) {
//     return trainyard::TrainFashionMnist(
//         argc, argv, [](const std::string& name) {
//       return trainyard::MakeBackend(name);
//     });
//   }
//
// Call it once, from main.
#ifndef TRAINYARD_TOOLS_EXAMPLES_FASHION_MNIST_RUN_H_
#define TRAINYARD_TOOLS_EXAMPLES_FASHION_MNIST_RUN_H_

#include <functional>
#include <memory>
#include <string>

#include "backends/backend.h"

namespace trainyard {

// Makes the backend of the flag --backend.
using BackendMaker =
    std::function<std::unique_ptr<Backend>(const std::string& name)>;

// Returns the exit code of the program.
int TrainFashionMnist(int argc, char** argv, const BackendMaker& make_backend);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_EXAMPLES_FASHION_MNIST_RUN_H_
