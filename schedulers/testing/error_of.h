// What a function complains about, for tests of bad options.
//
//   EXPECT_EQ(ErrorOf([] { Step({}); }),
//             "Step: every is 0 updates, want more than 0");
//
// Thread-safe.
#ifndef TRAINYARD_SCHEDULERS_TESTING_ERROR_OF_H_
#define TRAINYARD_SCHEDULERS_TESTING_ERROR_OF_H_

#include <functional>
#include <stdexcept>
#include <string>

namespace trainyard {

// What `function` throws as std::invalid_argument says; empty if it does not.
inline std::string ErrorOf(const std::function<void()>& function) {
  try {
    function();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_TESTING_ERROR_OF_H_
