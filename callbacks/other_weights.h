// OtherWeights is a second set of weights for the same models, such as an
// average of them. A callback that derives from it, too, has every evaluation
// of a run made twice: with the models' own weights, then with the others,
// under the set's name with prefix() and "_" before it: "ema_eval_loss". A run
// may have several, each with a prefix of its own; they are evaluated in the
// order in which they were added.
//
//   class Averages final : public Callback, public OtherWeights {
//     std::string prefix() const override { return "average"; }
//     …
//   };
//
// Thread-compatible: the loop calls it from one thread.
#ifndef TRAINYARD_CALLBACKS_OTHER_WEIGHTS_H_
#define TRAINYARD_CALLBACKS_OTHER_WEIGHTS_H_

#include <string>

namespace trainyard {

class OtherWeights {
 public:
  virtual ~OtherWeights() = default;

  virtual std::string prefix() const = 0;

  // Whether the evaluation that is due is to be made with them, too. The same
  // on all processes.
  virtual bool wanted() const { return true; }

  // The models hold the other weights from Enter to Leave, and their own before
  // and after.
  virtual void Enter() = 0;
  virtual void Leave() = 0;

  // From its construction to its end, whatever is thrown.
  class Use {
   public:
    explicit Use(OtherWeights& weights) : weights_(weights) {
      weights_.Enter();
    }
    ~Use() { weights_.Leave(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    OtherWeights& weights_;
  };
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_OTHER_WEIGHTS_H_
