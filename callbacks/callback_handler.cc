#include "callbacks/callback_handler.h"

#include <c10/util/Type.h>

#include <algorithm>
#include <iterator>

#include "trainer/error_message.h"

namespace trainyard {
namespace {

std::string Message(const Callback& callback, std::string_view where,
                    const std::exception& cause) {
  std::string message = callback.name();
  message.append(" threw in ").append(where).append(": ");
  return message + ErrorMessage(cause);
}

template <class T>
void InsertByPriority(std::vector<T>& list, T item) {
  auto at = list.end();
  while (at != list.begin() && std::prev(at)->priority > item.priority) --at;
  list.insert(at, std::move(item));
}

}  // namespace

CallbackError::CallbackError(const Callback& callback, std::string_view where,
                             const std::exception& cause)
    : std::runtime_error(Message(callback, where, cause)) {}

std::string CallbackHandler::TypeName(const std::type_info& type) {
  return c10::demangle(type.name());
}

void CallbackHandler::Register(Callback& callback, Stateful* stateful,
                               const AddOptions& options) {
  for (const Callback* other : callbacks_) {
    if (other == &callback || (options.duplicates == Duplicates::kReject &&
                               typeid(*other) == typeid(callback))) {
      throw std::invalid_argument(
          "CallbackHandler: a " + callback.name() +
          " was added before; add it once, or pass Duplicates::kAllow");
    }
  }
  callbacks_.push_back(&callback);
  stateful_.push_back(stateful);
  InsertByPriority(
      by_priority_,
      Added{.callback = &callback,
            .priority = options.priority.value_or(callback.priority()),
            .filter = options.filter});
}

void CallbackHandler::Insert(size_t event, Subscriber subscriber) {
  InsertByPriority(subscribers_[event], std::move(subscriber));
}

void CallbackHandler::FireTo(size_t event, const void* fired) {
  for (Subscriber& subscriber : subscribers_[event]) {
    Call(event, subscriber, fired);
  }
}

void CallbackHandler::Call(size_t event, Subscriber& subscriber,
                           const void* fired) {
  try {
    if (subscriber.filter && !subscriber.filter(++subscriber.occurrences)) {
      return;
    }
    subscriber.call(*subscriber.callback, fired, control_);
  } catch (const std::exception& e) {
    std::throw_with_nested(
        CallbackError(*subscriber.callback, kHookNames[event], e));
  }
}

void CallbackHandler::Remove(const Callback& callback) {
  const auto at = std::find(callbacks_.begin(), callbacks_.end(), &callback);
  if (at == callbacks_.end()) return;
  stateful_.erase(stateful_.begin() + (at - callbacks_.begin()));
  callbacks_.erase(at);
  const auto is_it = [&](const auto& item) {
    return item.callback == &callback;
  };
  std::erase_if(by_priority_, is_it);
  for (auto& subscribers : subscribers_) std::erase_if(subscribers, is_it);
  std::erase_if(kept_,
                [&](const auto& kept) { return kept.get() == &callback; });
}

std::exception_ptr CallbackHandler::FireToAll(const RunEnd& event) {
  std::exception_ptr first;
  constexpr size_t kEvent = IndexOf<RunEnd>();
  for (Subscriber& subscriber : subscribers_[kEvent]) {
    try {
      Call(kEvent, subscriber, &event);
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  return first;
}

std::map<std::string, Stateful*> CallbackHandler::StatefulCallbacks() const {
  std::map<std::string, Stateful*> found;
  std::map<std::string, int> count;
  for (size_t i = 0; i < callbacks_.size(); ++i) {
    const std::string name = callbacks_[i]->name();
    const int number = ++count[name];
    if (stateful_[i] == nullptr) continue;
    found[name + (number == 1 ? "" : "#" + std::to_string(number))] =
        stateful_[i];
  }
  return found;
}

std::string CallbackHandler::Describe() const {
  std::string table = "| Event | Callback | Priority |\n| --- | --- | --- |\n";
  for (size_t event = 0; event < kNumEvents; ++event) {
    std::string hook(kHookNames[event]);
    if (subscribers_[event].empty()) table += "| " + hook + " | (none) | |\n";
    for (const Subscriber& subscriber : subscribers_[event]) {
      table += "| " + hook + " | " + subscriber.callback->name() + " | " +
               std::to_string(subscriber.priority) + " |\n";
      hook.clear();  // the event is named on its first row only
    }
  }
  return table;
}

}  // namespace trainyard
