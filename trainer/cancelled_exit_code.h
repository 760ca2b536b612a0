// The exit code of a program whose run was cancelled: by a signal, or because
// the job's time is over. It has saved a checkpoint and wants to be started
// again.
//
//   return CancelledExitCode();  // 3
//
// The variable TRAINYARD_CANCELLED_EXIT_CODE sets another one, for schedulers
// that read a meaning into the number: 143 is a retry for PyTorchJob's
// restartPolicy ExitCode, and 3 is not. Thread-safe.
#ifndef TRAINYARD_TRAINER_CANCELLED_EXIT_CODE_H_
#define TRAINYARD_TRAINER_CANCELLED_EXIT_CODE_H_

namespace trainyard {

// Throws std::invalid_argument if the variable is not a number from 0 to 255.
int CancelledExitCode();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CANCELLED_EXIT_CODE_H_
