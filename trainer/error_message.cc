#include "trainer/error_message.h"

#include <c10/util/Exception.h>

namespace trainyard {

std::string ErrorMessage(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  return torch_error == nullptr ? error.what()
                                : torch_error->what_without_backtrace();
}

}  // namespace trainyard
