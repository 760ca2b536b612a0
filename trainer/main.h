// Main is the last frame of a program: it runs the function and turns whatever
// it throws into one line on standard error and an exit code.
//
//   int main(int argc, char** argv) {
//     absl::ParseCommandLine(argc, argv);
//     return trainyard::Main([] { … });
//   }
//
// Exit codes: 0, or 1 after an error.
#ifndef TRAINYARD_TRAINER_MAIN_H_
#define TRAINYARD_TRAINER_MAIN_H_

#include <exception>
#include <functional>
#include <string>

namespace trainyard {

int Main(const std::function<void()>& program);

// What a person should read of an exception: libtorch's own come without their
// backtrace.
std::string ErrorMessage(const std::exception& error);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MAIN_H_
