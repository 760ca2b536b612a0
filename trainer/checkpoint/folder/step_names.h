// The names of things in a run's folder, and who is writing what. Free of
// libtorch.
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

// A process, as far as another one can tell whether it still runs.
struct WriterId {
  // Eight hexadecimal digits each, of the machine's name and of its last start.
  std::string host;
  std::string boot;
  int64_t pid = 0;
};

WriterId ThisWriter();

// Whether the writer has certainly ended. Not for one on another machine.
bool HasEnded(const WriterId& writer, const WriterId& self);

// REQUIRES: step >= 0.
std::string StepName(int64_t step);
// Nothing if the name is none that StepName gives.
std::optional<int64_t> StepOfName(std::string_view name);

std::string TemporaryName(int64_t step, const WriterId& writer,
                          std::string_view unique);
// Nothing if the name is none that TemporaryName gives.
std::optional<WriterId> WriterOfName(std::string_view name);

std::string TrashName(std::string_view unique);
bool IsTrashName(std::string_view name);

// 16 random bytes.
std::string NewUuid();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FOLDER_STEP_NAMES_H_
