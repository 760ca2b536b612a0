// OrThrow is the bridge from a status to an exception, for programs: the
// status's message becomes the exception's, which Main prints.
//
//   const at::Tensor images = OrThrow(ReadIdxFile(path));
#ifndef TRAINYARD_TRAINER_OR_THROW_H_
#define TRAINYARD_TRAINER_OR_THROW_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace trainyard {

inline void OrThrow(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}

template <class T>
T OrThrow(absl::StatusOr<T> value) {
  OrThrow(value.status());
  return *std::move(value);
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OR_THROW_H_
