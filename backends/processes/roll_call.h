// RollCall finds out, after a collective has failed, which processes are still
// there: each that notices the failure answers, and whoever does not is named.
//
//   } catch (const std::exception& e) {
//     throw … << roll_call.Describe();   // "rank 1 does not answer"
//   }
//
// Not collective. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_ROLL_CALL_H_
#define TRAINYARD_BACKENDS_PROCESSES_ROLL_CALL_H_

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace c10d {
class Store;
}  // namespace c10d

namespace trainyard {

class RollCall {
 public:
  // `patience`: how long the others have to notice the failure too.
  RollCall(c10::intrusive_ptr<c10d::Store> store, int64_t rank, int64_t size,
           std::chrono::milliseconds patience = std::chrono::milliseconds(500));
  RollCall(const RollCall&);
  RollCall& operator=(const RollCall&) = delete;
  ~RollCall();

  // Leaves the reason why this process ends, for the others. The first one's
  // stays.
  void Abandon(const std::string& reason);

  // Answers, waits for the others, and says in a sentence who is missing and
  // what was left as a reason. Takes `patience`, twice that if the store does
  // not answer, and more on rank 0.
  std::string Describe();

 private:
  std::string Ask();
  // Calls it in a thread that can be left behind: a store whose process hangs,
  // or that is behind a broken cable, answers never. None in that case, and at
  // once from then on.
  std::optional<std::string> WithinPatience(
      std::function<std::string(RollCall&)> call);

  c10::intrusive_ptr<c10d::Store> store_;
  int64_t rank_;
  int64_t size_;
  std::chrono::milliseconds patience_;
  bool mute_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_ROLL_CALL_H_
