// HeldTask is a task that a trainer uses, owned by the rule of callbacks: a
// variable is borrowed, a temporary or a unique_ptr is kept.
//
//   MyTask task;
//   HeldTask borrowed(task);
//   HeldTask kept(Supervised(model, CrossEntropy()));
//
// A function that uses a task has a HeldTask as its parameter.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_HELD_TASK_H_
#define TRAINYARD_TRAINER_HELD_TASK_H_

#include <memory>
#include <type_traits>
#include <utility>

#include "callbacks/callback.h"
#include "trainer/task.h"

namespace trainyard {

class HeldTask {
 public:
  template <class T>
    requires std::is_base_of_v<Task, std::remove_cvref_t<T>>
  HeldTask(T&& task) {  // NOLINT: any task becomes one
    using Class = std::remove_cvref_t<T>;
    if constexpr (std::is_lvalue_reference_v<T>) {
      Hold(&task);
    } else {
      auto kept = std::make_unique<Class>(std::forward<T>(task));
      Hold(kept.get());
      kept_ = std::move(kept);
    }
  }

  template <class T>
  HeldTask(std::unique_ptr<T> task) {  // NOLINT: as above
    Hold(task.get());
    kept_ = std::move(task);
  }

  // Null only if it was made of an empty unique_ptr.
  Task* task() const { return task_; }
  // The same object, if the task is a Callback too; otherwise null.
  Callback* callback() const { return callback_; }

 private:
  template <class T>
  void Hold(T* task) {
    task_ = task;
    if constexpr (std::is_base_of_v<Callback, T>) {
      callback_ = task;
    } else if constexpr (!std::is_final_v<T>) {
      // Known by a base class only: a derived class may be a Callback.
      callback_ = dynamic_cast<Callback*>(task);
    }
  }

  std::unique_ptr<Task> kept_;
  Task* task_ = nullptr;
  Callback* callback_ = nullptr;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_HELD_TASK_H_
