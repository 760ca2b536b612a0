// Cancellation turns SIGINT and SIGTERM into a flag that a loop reads between
// steps, while an object of this class lives. The second signal acts as if
// there were none: it ends the process at once.
//
//   const Cancellation cancellation;
//   while (!cancellation.requested()) { … }
//
// The handlers that were there before come back at its end. One object at a
// time in a process: a second one is inactive. Thread-compatible.
#ifndef TRAINYARD_TRAINER_LOOP_CANCELLATION_H_
#define TRAINYARD_TRAINER_LOOP_CANCELLATION_H_

#include <csignal>
#include <string>

namespace trainyard {

class Cancellation {
 public:
  Cancellation();
  ~Cancellation();

  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  bool requested() const;
  // "SIGINT" or "SIGTERM" once requested, before it "".
  std::string signal_name() const;

 private:
  bool active_;
  struct sigaction old_interrupt_ = {};
  struct sigaction old_terminate_ = {};
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_CANCELLATION_H_
