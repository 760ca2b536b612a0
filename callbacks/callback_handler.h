// CallbackHandler keeps a run's callbacks in order and hands them its events.
//
//   CallbackHandler handler(control);
//   handler.Add(stopper);          // a variable is borrowed: it must live on
//   handler.Add(ProgressBar());    // a temporary is kept
//   handler.Fire(StepEnd{clock, batch, output});
//
// Each event goes only to the callbacks that override its hook, by priority,
// then in the order they were added. A callback that throws ends the Fire with
// a CallbackError that names it.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_CALLBACK_HANDLER_H_
#define TRAINYARD_CALLBACKS_CALLBACK_HANDLER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include "callbacks/callback.h"
#include "callbacks/hooks.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/state.h"

namespace trainyard {

// A callback's own exception, nested inside one that says which callback and
// which event.
class CallbackError : public std::runtime_error {
 public:
  // `where` is the hook, or the type of a user's own event.
  CallbackError(const Callback& callback, std::string_view where,
                const std::exception& cause);
};

enum class Duplicates { kReject, kAllow };

// Whether a callback hears of an event, given how often the event has occurred
// since the callback was added, this time included.
using Filter = std::function<bool(int64_t occurrence)>;

struct AddOptions {
  // Two of one class are a mistake far more often than a wish.
  Duplicates duplicates = Duplicates::kReject;
  // Asked for each event on its own. Null: all are heard.
  Filter filter = nullptr;
  // In place of the callback's own.
  std::optional<int> priority = std::nullopt;
};

class CallbackHandler {
 public:
  // The control leads to this handler from now on.
  explicit CallbackHandler(Control& control) : control_(control) {
    control_.set_callbacks(this);
  }
  ~CallbackHandler() { control_.set_callbacks(nullptr); }

  CallbackHandler(const CallbackHandler&) = delete;
  CallbackHandler& operator=(const CallbackHandler&) = delete;

  // What the callbacks have requested.
  Control& control() const { return control_; }

  // Adds a callback and returns it.
  template <class T>
  std::remove_reference_t<T>& Add(T&& callback, AddOptions options = {}) {
    using Class = std::remove_reference_t<T>;
    static_assert(std::is_base_of_v<Callback, Class>, "not a Callback");
    Class* added;
    if constexpr (std::is_lvalue_reference_v<T>) {
      added = &callback;
      Register(*added, StatefulOf(*added), options);
    } else {
      auto kept = std::make_unique<Class>(std::forward<T>(callback));
      added = kept.get();
      Register(*added, StatefulOf(*added), options);
      kept_.push_back(std::move(kept));
    }
    Subscribe(*added, options, std::make_index_sequence<kNumEvents>());
    return *added;
  }

  // Removes a callback that was added; a temporary that was kept is destroyed.
  // Does nothing if it was not added. REQUIRES: no event is being fired.
  void Remove(const Callback& callback);

  // Whether anybody listens: an event that costs something to make need not be.
  template <class Event>
  bool Hears() const {
    return !subscribers_[IndexOf<Event>()].empty();
  }

  template <class Event>
  void Fire(const Event& event) {
    constexpr size_t kEvent = IndexOf<Event>();
    if constexpr (kEvent < kNumEvents) {
      if (!subscribers_[kEvent].empty()) FireTo(kEvent, &event);
    } else {
      for (Added& added : by_priority_) {
        auto* handles = dynamic_cast<Handles<Event>*>(added.callback);
        if (handles == nullptr) continue;
        try {
          if (added.filter &&
              !added.filter(
                  ++added.occurrences[std::type_index(typeid(Event))])) {
            continue;
          }
          handles->Handle(event, control_);
        } catch (const std::exception& e) {
          std::throw_with_nested(
              CallbackError(*added.callback, TypeName(typeid(Event)), e));
        }
      }
    }
  }

  // Fires InitEnd when it is called for the first time, and then never again:
  // callbacks are added after a trainer was constructed.
  void FireInitEnd() {
    if (!std::exchange(init_end_fired_, true)) Fire(InitEnd{});
  }

  // As Fire, but every callback is called, whatever the ones before it threw.
  // Returns the first exception, or null.
  std::exception_ptr FireToAll(const RunEnd& event);

  // The first callback of class T, or null.
  template <class T>
  T* Find() const {
    for (Callback* callback : callbacks_) {
      if (auto* found = dynamic_cast<T*>(callback)) return found;
    }
    return nullptr;
  }

  // All callbacks of class T, in the order of adding.
  template <class T>
  std::vector<T*> FindAll() const {
    std::vector<T*> all;
    for (Callback* callback : callbacks_) {
      if (auto* found = dynamic_cast<T*>(callback)) all.push_back(found);
    }
    return all;
  }

  // All callbacks of class T, by priority, then in the order of adding.
  template <class T>
  std::vector<T*> FindAllByPriority() const {
    std::vector<T*> all;
    for (const Added& added : by_priority_) {
      if (auto* found = dynamic_cast<T*>(added.callback)) all.push_back(found);
    }
    return all;
  }

  // The callbacks that have state to be saved, by name; a second one of a name
  // is "<name>#2".
  std::map<std::string, Stateful*> StatefulCallbacks() const;

  // A Markdown table of who runs when: event, callback, priority.
  std::string Describe() const;

 private:
  // Of one event. `call` knows the event's type and, where it can, the
  // callback's.
  struct Subscriber {
    Callback* callback;
    int priority;
    void (*call)(Callback&, const void* event, Control&);
    Filter filter;
    int64_t occurrences = 0;
  };
  // What a user's own event needs: which callbacks handle it shows at run time.
  struct Added {
    Callback* callback;
    int priority;
    Filter filter;
    std::map<std::type_index, int64_t> occurrences = {};
  };
  template <class T>
  static Stateful* StatefulOf(T& callback) {
    if constexpr (std::is_base_of_v<Stateful, T>) {
      return &callback;
    } else if constexpr (std::is_final_v<T>) {
      return nullptr;
    } else {
      // Known by a base class only: a derived class may have state.
      return dynamic_cast<Stateful*>(&callback);
    }
  }

  void Register(Callback& callback, Stateful* stateful,
                const AddOptions& options);
  static std::string TypeName(const std::type_info& type);

  template <class T, size_t... kEvents>
  void Subscribe(T& callback, const AddOptions& options,
                 std::index_sequence<kEvents...>) {
    const int priority = options.priority.value_or(callback.priority());
    (SubscribeTo<kEvents>(callback, priority, options.filter), ...);
  }

  template <size_t kEvent, class T>
  void SubscribeTo(T& callback, int priority, const Filter& filter) {
    using Event = EventAt<kEvent>;
    if constexpr (std::is_base_of_v<Handles<Event>, T>) {
      Insert(kEvent, {&callback, priority,
                      [](Callback& to, const void* event, Control& control) {
                        static_cast<T&>(to).Handle(
                            *static_cast<const Event*>(event), control);
                      },
                      filter});
    } else if constexpr (Overrides<T, kEvent>()) {
      if constexpr (std::is_same_v<T, Callback>) {
        // Of an object known by its base only, what it is shows at run time.
        if (dynamic_cast<Handles<Event>*>(&callback) != nullptr) {
          Insert(kEvent,
                 {&callback, priority,
                  [](Callback& to, const void* event, Control& control) {
                    dynamic_cast<Handles<Event>&>(to).Handle(
                        *static_cast<const Event*>(event), control);
                  },
                  filter});
          return;
        }
      }
      Insert(kEvent, {&callback, priority,
                      [](Callback& to, const void* event, Control& control) {
                        (to.*std::get<kEvent>(HooksOf<Callback>()))(
                            *static_cast<const Event*>(event), control);
                      },
                      filter});
    }
  }

  void Insert(size_t event, Subscriber subscriber);
  // `fired` is the event itself.
  void FireTo(size_t event, const void* fired);
  void Call(size_t event, Subscriber& subscriber, const void* fired);

  Control& control_;
  bool init_end_fired_ = false;
  // In the order of adding.
  std::vector<Callback*> callbacks_;
  // Of the same callback, or null.
  std::vector<Stateful*> stateful_;
  std::vector<Added> by_priority_;
  std::vector<std::unique_ptr<Callback>> kept_;
  // By event.
  std::array<std::vector<Subscriber>, kNumEvents> subscribers_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_CALLBACK_HANDLER_H_
