// The names in a run's folder, and which process writes to a temporary folder.
// Free of libtorch.
//
//   StepName(12000);                         // "step-0000012000"
//   TemporaryName(12000, ThisWriter(), id);  // ".tmp-step-0000012000.…"
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FOLDER_STEP_NAMES_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FOLDER_STEP_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

// Identifies a process so that another process can tell whether it still runs.
struct WriterId {
  // Eight hexadecimal digits each: hashes of the host name and of the boot id.
  std::string host;
  std::string boot;
  int64_t pid = 0;
};

WriterId ThisWriter();

// Returns true if the writer has certainly ended. False for a process on
// another machine.
bool HasEnded(const WriterId& writer, const WriterId& self);

// REQUIRES: step >= 0.
std::string StepName(int64_t step);
// The inverse of StepName. Empty for any other name.
std::optional<int64_t> StepOfName(std::string_view name);

std::string TemporaryName(int64_t step, const WriterId& writer,
                          std::string_view unique);
// The writer in a name that TemporaryName returned. Empty for any other name.
std::optional<WriterId> WriterOfName(std::string_view name);

std::string TrashName(std::string_view unique);
bool IsTrashName(std::string_view name);

// Returns 16 random bytes.
std::string NewUuid();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FOLDER_STEP_NAMES_H_
