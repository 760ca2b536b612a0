// State is what a part of a run saves so that it can be resumed: named values,
// and the version of their meaning. Stateful is a part that has state.
//
//   State SaveState() const override {
//     State state;
//     state.Set("best", best_);
//     return state;
//   }
//   void LoadState(const State& state) override {
//     best_ = state.Get<double>("best");
//   }
//
// Large things that exist for their tensors (models, optimizers) are saved as
// NamedTensors instead. Tensors here are held by pointer, so that this header
// needs no libtorch; trainer/state_tensor.h sets and gets them.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_STATE_H_
#define TRAINYARD_TRAINER_STATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace at {
class Tensor;
}  // namespace at

namespace trainyard {

using StateValue =
    std::variant<int64_t, double, std::string, std::vector<int64_t>,
                 std::vector<double>, std::shared_ptr<const at::Tensor>>;
using StateValues = std::map<std::string, StateValue, std::less<>>;

class State {
 public:
  // A part that changes the meaning of its values saves another version.
  explicit State(int64_t version = 1);

  // In the source file: a map of variants is expensive to compile.
  State(const State&);
  State(State&&) noexcept;
  State& operator=(const State&);
  State& operator=(State&&) noexcept;
  ~State();

  int64_t version() const { return version_; }

  // Throws std::invalid_argument if the name is taken.
  void Set(std::string name, StateValue value);

  bool Has(std::string_view name) const;

  // Throws std::invalid_argument, naming the value, if there is none or it is
  // of another type. T is one of StateValue's.
  template <class T>
  const T& Get(std::string_view name) const {
    const StateValue& value = At(name);
    if (const T* typed = std::get_if<T>(&value)) return *typed;
    ThrowWrongType(name, value, StateValue(T()));
  }

  // Throws std::invalid_argument unless the version is one of 1 … newest.
  void CheckVersion(int64_t newest) const;

  // By name, in name order.
  const StateValues& values() const { return values_; }

 private:
  const StateValue& At(std::string_view name) const;
  [[noreturn]] static void ThrowWrongType(std::string_view name,
                                          const StateValue& is,
                                          const StateValue& wanted);

  int64_t version_;
  StateValues values_;
};

class Stateful {
 public:
  virtual ~Stateful() = default;

  virtual State SaveState() const = 0;

  // Continues from what SaveState returned. Throws if the state does not fit;
  // then nothing is changed.
  virtual void LoadState(const State& state) = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_STATE_H_
