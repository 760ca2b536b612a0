// CallbackHandler keeps a run's callbacks in order and hands them its events.
//
//   CallbackHandler handler(control);
//   handler.Add(stopper);                  // a variable is borrowed and must
//   outlive the handler handler.Add(ProgressBar());            // a temporary
//   is kept handler.Fire(StepEnd{state, batch, output});
//
// Each event goes only to the callbacks that override its hook, by priority,
// then in the order they were added. A callback that throws ends the Fire with
// a CallbackError that names it.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_CALLBACK_HANDLER_H_
#define TRAINYARD_CALLBACKS_CALLBACK_HANDLER_H_

#include <array>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "callbacks/callback.h"
#include "callbacks/hooks.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

// A callback's own exception, nested inside one that says which callback and
// which event.
class CallbackError : public std::runtime_error {
 public:
  CallbackError(const Callback& callback, std::string_view hook,
                std::string_view what);
};

enum class Duplicates { kReject, kAllow };

class CallbackHandler {
 public:
  explicit CallbackHandler(Control& control) : control_(control) {}

  CallbackHandler(const CallbackHandler&) = delete;
  CallbackHandler& operator=(const CallbackHandler&) = delete;

  // Adds a callback and returns it. Two of one class are rejected unless
  // allowed: a second progress bar or stopper is a mistake far more often than
  // a wish.
  template <class T>
  std::remove_reference_t<T>& Add(T&& callback,
                                  Duplicates duplicates = Duplicates::kReject) {
    using Class = std::remove_reference_t<T>;
    static_assert(std::is_base_of_v<Callback, Class>, "not a Callback");
    Class* added;
    if constexpr (std::is_lvalue_reference_v<T>) {
      added = &callback;
      Register(*added, duplicates);
    } else {
      auto kept = std::make_unique<Class>(std::forward<T>(callback));
      added = kept.get();
      Register(*added, duplicates);
      kept_.push_back(std::move(kept));
    }
    Subscribe(*added, std::make_index_sequence<kNumEvents>());
    return *added;
  }

  template <class Event>
  void Fire(const Event& event) {
    constexpr size_t kEvent = IndexOf<Event>();
    if constexpr (kEvent < kNumEvents) {
      for (const auto& subscriber : std::get<kEvent>(subscribers_))
        Call(subscriber, event);
    } else {
      for (Callback* callback : callbacks_) {
        if (auto* handles = dynamic_cast<Handles<Event>*>(callback))
          handles->Handle(event, control_);
      }
    }
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

  // A Markdown table of who runs when: event, callback, priority.
  std::string Describe() const;

 private:
  template <class Event>
  struct Subscriber {
    Callback* callback;
    int priority;
    void (*call)(Callback&, const Event&, Control&);
  };
  template <class>
  struct SubscriberLists;
  template <class... Event>
  struct SubscriberLists<std::tuple<Event...>> {
    using Type = std::tuple<std::vector<Subscriber<Event>>...>;
  };

  void Register(Callback& callback, Duplicates duplicates);

  template <class T, size_t... kEvents>
  void Subscribe(T& callback, std::index_sequence<kEvents...>) {
    (SubscribeTo<kEvents>(callback), ...);
  }

  template <size_t kEvent, class T>
  void SubscribeTo(T& callback) {
    using Event = EventAt<kEvent>;
    if constexpr (std::is_base_of_v<Handles<Event>, T>) {
      Insert<kEvent>({&callback, callback.priority(),
                      [](Callback& to, const Event& event, Control& control) {
                        static_cast<T&>(to).Handle(event, control);
                      }});
    } else if constexpr (Overrides<T, kEvent>()) {
      Insert<kEvent>({&callback, callback.priority(),
                      [](Callback& to, const Event& event, Control& control) {
                        (to.*std::get<kEvent>(HooksOf<Callback>()))(event,
                                                                    control);
                      }});
    }
  }

  template <size_t kEvent>
  void Insert(const Subscriber<EventAt<kEvent>>& subscriber) {
    auto& list = std::get<kEvent>(subscribers_);
    auto at = list.end();
    while (at != list.begin() && std::prev(at)->priority > subscriber.priority)
      --at;
    list.insert(at, subscriber);
  }

  template <class Event>
  void Call(const Subscriber<Event>& subscriber, const Event& event) {
    try {
      subscriber.call(*subscriber.callback, event, control_);
    } catch (const std::exception& e) {
      std::throw_with_nested(CallbackError(
          *subscriber.callback, kHookNames[IndexOf<Event>()], e.what()));
    }
  }

  Control& control_;
  std::vector<Callback*> callbacks_;
  std::vector<std::unique_ptr<Callback>> kept_;
  SubscriberLists<Events>::Type subscribers_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_CALLBACK_HANDLER_H_
