#include "callbacks/callback_handler.h"

#include <c10/util/Type.h>

#include <algorithm>

#include "trainer/error_message.h"

namespace trainyard {
namespace {

std::string Message(const Callback& callback, std::string_view where,
                    const std::exception& cause) {
  std::string message = callback.name();
  message.append(" threw in ").append(where).append(": ");
  return message + ErrorMessage(cause);
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
  InsertByPriority(by_priority_,
                   {.callback = &callback,
                    .priority = options.priority.value_or(callback.priority()),
                    .filter = options.filter});
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
  std::apply([&](auto&... lists) { (std::erase_if(lists, is_it), ...); },
             subscribers_);
  std::erase_if(kept_,
                [&](const auto& kept) { return kept.get() == &callback; });
}

std::exception_ptr CallbackHandler::FireToAll(const RunEnd& event) {
  std::exception_ptr first;
  for (auto& subscriber : std::get<IndexOf<RunEnd>()>(subscribers_)) {
    try {
      Call(subscriber, event);
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
  size_t event = 0;
  const auto describe = [&](const auto& subscribers) {
    std::string hook(kHookNames[event++]);
    if (subscribers.empty()) table += "| " + hook + " | (none) | |\n";
    for (const auto& subscriber : subscribers) {
      table += "| " + hook + " | " + subscriber.callback->name() + " | " +
               std::to_string(subscriber.priority) + " |\n";
      hook.clear();  // the event is named on its first row only
    }
  };
  std::apply([&](const auto&... lists) { (describe(lists), ...); },
             subscribers_);
  return table;
}

}  // namespace trainyard
