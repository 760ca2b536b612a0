// ErrorOf is what the exception of a function says, for tests of bad input.
//
//   EXPECT_EQ(ErrorOf([] { throw std::invalid_argument("lr is 0"); }),
//             "lr is 0");
//   EXPECT_EQ(ErrorOf<Traced>([] { throw Traced(); }), "bad");
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_TESTING_ERROR_OF_H_
#define TRAINYARD_TOOLS_TESTING_ERROR_OF_H_

#include <stdexcept>
#include <string>

namespace trainyard {

// Without libtorch's backtrace. Empty if `function` throws nothing; an
// exception of another class is thrown on.
template <class Error = std::invalid_argument, class Function>
std::string ErrorOf(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    if constexpr (requires { error.what_without_backtrace(); }) {
      return error.what_without_backtrace();
    } else {
      return error.what();
    }
  }
  return "";
}

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_TESTING_ERROR_OF_H_
