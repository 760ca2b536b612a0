// RollCall finds out, after a collective has failed, which ranks are still
// there: each rank that notices the failure answers, and the others are named.
//
//   RollCall first(store, 0, 3, milliseconds(20));
//   RollCall third(store, 2, 3, milliseconds(20));
//   third.Abandon("out of memory");
//   EXPECT_EQ(first.Describe(),
//             "ranks 1 and 2 do not answer; rank 2: out of memory");
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
  // `patience`: how long the other ranks have to notice the failure.
  RollCall(c10::intrusive_ptr<c10d::Store> store, int64_t rank, int64_t size,
           std::chrono::milliseconds patience = std::chrono::milliseconds(500));
  RollCall(const RollCall&);
  RollCall& operator=(const RollCall&) = delete;
  ~RollCall();

  // Stores the reason why this process ends, for the others to read. Only the
  // first reason is kept.
  void Abandon(const std::string& reason);

  // Answers, waits for the others, and returns a sentence with the missing
  // ranks and the stored reason. Takes `patience`, twice that if the store does
  // not answer, and more on rank 0.
  std::string Describe();

 private:
  std::string Ask();
  // Makes the call in a detached thread: a store whose process hangs, or whose
  // network is cut, never answers. Returns none then, and at once from then on.
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
