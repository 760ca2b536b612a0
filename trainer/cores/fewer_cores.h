// FewerCores lets the threads of this process run on some of its cores only,
// for as long as the object exists.
//
//   FewerCores fewer(all_, {all_[1]});
//   …
//   fewer.MoveTo({all_[0]});
//
// The number of threads stays, and so does what each computes: results are the
// same to the bit. Threads that start meanwhile do as the others; those that
// the program bound to other cores are left alone. Where two threads share a
// core, neither interrupts the other when it wakes up (SCHED_BATCH).
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CORES_FEWER_CORES_H_
#define TRAINYARD_TRAINER_CORES_FEWER_CORES_H_

#include <vector>

namespace trainyard {

class FewerCores {
 public:
  // `all`: the cores of the threads now. Threads with others stay where they
  // are. REQUIRES: `some` are among them, and at least one.
  FewerCores(std::vector<int> all, const std::vector<int>& some);
  ~FewerCores();
  FewerCores(const FewerCores&) = delete;
  FewerCores& operator=(const FewerCores&) = delete;

  void MoveTo(const std::vector<int>& some);
  const std::vector<int>& cores() const { return now_; }

 private:
  void Move(const std::vector<int>& to, int from_policy, int to_policy);

  const std::vector<int> all_;
  std::vector<int> now_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CORES_FEWER_CORES_H_
