// OrThrow turns an error status into an exception that keeps its code, for
// programs and for code that reports errors by exceptions.
//
//   const at::Tensor images = OrThrow(ReadIdxFile(path));
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_OR_THROW_H_
#define TRAINYARD_TRAINER_OR_THROW_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace trainyard {

class StatusError : public std::runtime_error {
 public:
  // REQUIRES: not OK.
  explicit StatusError(const absl::Status& status)
      : std::runtime_error(std::string(status.message())),
        code_(status.code()) {}

  absl::StatusCode code() const { return code_; }

 private:
  absl::StatusCode code_;
};

// Throws StatusError, with the message of the status, unless it is OK.
inline void OrThrow(const absl::Status& status) {
  if (!status.ok()) throw StatusError(status);
}

// Returns the value, or throws as above.
template <class T>
T OrThrow(absl::StatusOr<T> value) {
  OrThrow(value.status());
  return *std::move(value);
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OR_THROW_H_
