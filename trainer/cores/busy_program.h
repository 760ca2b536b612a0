// BusyProgram is another program that does nothing but use a core.
//
//   const BusyProgram busy;
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CORES_BUSY_PROGRAM_H_
#define TRAINYARD_TRAINER_CORES_BUSY_PROGRAM_H_

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace trainyard {

class BusyProgram {
 public:
  BusyProgram() : id_(fork()) {
    if (id_ < 0) throw std::runtime_error("BusyProgram: fork failed");
    if (id_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned count = 0;; count = count + 1) {
    }
  }
  ~BusyProgram() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  BusyProgram(const BusyProgram&) = delete;
  BusyProgram& operator=(const BusyProgram&) = delete;

 private:
  const pid_t id_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CORES_BUSY_PROGRAM_H_
