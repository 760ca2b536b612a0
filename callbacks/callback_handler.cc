#include "callbacks/callback_handler.h"

namespace trainyard {
namespace {

std::string Message(const Callback& callback, std::string_view hook,
                    std::string_view what) {
  std::string message = callback.name();
  message.append(" threw in ").append(hook).append(": ").append(what);
  return message;
}

}  // namespace

CallbackError::CallbackError(const Callback& callback, std::string_view hook,
                             std::string_view what)
    : std::runtime_error(Message(callback, hook, what)) {}

void CallbackHandler::Register(Callback& callback, Duplicates duplicates) {
  for (const Callback* other : callbacks_) {
    if (other == &callback || (duplicates == Duplicates::kReject &&
                               typeid(*other) == typeid(callback))) {
      throw std::invalid_argument(
          "CallbackHandler: a " + callback.name() +
          " was added before; add it once, or pass Duplicates::kAllow");
    }
  }
  callbacks_.push_back(&callback);
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
