// What a person should read of an exception: libtorch's own come without their
// backtrace. Thread-safe.
#ifndef TRAINYARD_TRAINER_ERROR_MESSAGE_H_
#define TRAINYARD_TRAINER_ERROR_MESSAGE_H_

#include <exception>
#include <string>

namespace trainyard {

std::string ErrorMessage(const std::exception& error);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_ERROR_MESSAGE_H_
