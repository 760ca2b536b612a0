#include "trainer/state.h"

#include <stdexcept>

namespace trainyard {
namespace {

const char* TypeName(const StateValue& value) {
  static constexpr const char* kNames[] = {
      "a whole number",          "a number",          "a text",
      "a list of whole numbers", "a list of numbers", "a tensor"};
  return kNames[value.index()];
}

}  // namespace

State::State(int64_t version) : version_(version) {}

State::State(const State&) = default;
State::State(State&&) noexcept = default;
State& State::operator=(const State&) = default;
State& State::operator=(State&&) noexcept = default;
State::~State() = default;

bool State::Has(std::string_view name) const { return values_.contains(name); }

void State::Set(std::string name, StateValue value) {
  const auto [place, added] =
      values_.emplace(std::move(name), std::move(value));
  if (!added) {
    throw std::invalid_argument("State: \"" + place->first +
                                "\" is set a second time");
  }
}

void State::CheckVersion(int64_t newest) const {
  if (version_ >= 1 && version_ <= newest) return;
  throw std::invalid_argument("State: version " + std::to_string(version_) +
                              " is not one this program knows (1 to " +
                              std::to_string(newest) +
                              "); it was saved by another version of it");
}

const StateValue& State::At(std::string_view name) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  std::string names;
  for (const auto& [known, value] : values_) names += " \"" + known + "\"";
  throw std::invalid_argument("State: there is no \"" + std::string(name) +
                              "\"; there is" +
                              (names.empty() ? " nothing" : names));
}

void State::ThrowWrongType(std::string_view name, const StateValue& is,
                           const StateValue& wanted) {
  throw std::invalid_argument("State: \"" + std::string(name) + "\" is " +
                              TypeName(is) + ", not " + TypeName(wanted));
}

}  // namespace trainyard
