#include "tools/cli/settings.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "trainer/train_unit.h"

namespace trainyard {
namespace {

[[noreturn]] void Fail(const std::string& name, const std::string& value,
                       const std::string& want) {
  throw std::invalid_argument("--" + name + " is '" + value + "', want " +
                              want);
}

double ParseNumber(const std::string& name, const std::string& text) {
  size_t end = 0;
  double value = NAN;
  try {
    value = std::stod(text, &end);
  } catch (const std::logic_error&) {
    end = 0;  // not a number, or out of range
  }
  if (end == 0 || end != text.size() || !std::isfinite(value)) {
    Fail(name, text, "a number");
  }
  return value;
}

int64_t ParseInteger(const std::string& name, const std::string& text) {
  const double value = ParseNumber(name, text);
  if (value != std::floor(value) || std::abs(value) > Settings::kLargest) {
    Fail(name, text, "an integer");
  }
  return static_cast<int64_t>(value);
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) {
    items.push_back(item);
  }
  return items;
}

}  // namespace

Settings::Settings(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.rfind("--", 0) != 0 || argument.size() == 2) {
      throw std::invalid_argument("'" + argument +
                                  "' is not of the form --name=value");
    }
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(2, equals - 2);
    const std::string value =
        equals == std::string::npos ? "true" : argument.substr(equals + 1);
    if (!given_.emplace(name, value).second) {
      throw std::invalid_argument("--" + name + " is given twice");
    }
  }
}

const std::string* Settings::Find(const std::string& name) {
  asked_.insert(name);
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

bool Settings::Has(const std::string& name) { return Find(name) != nullptr; }

std::string Settings::Text(const std::string& name,
                           const std::string& otherwise) {
  const std::string* text = Find(name);
  return text ? *text : otherwise;
}

bool Settings::Flag(const std::string& name) {
  const std::string text = Text(name, "false");
  if (text != "true" && text != "false") Fail(name, text, "true or false");
  return text == "true";
}

double Settings::Number(const std::string& name, double otherwise) {
  return OptionalNumber(name).value_or(otherwise);
}

std::optional<double> Settings::OptionalNumber(const std::string& name) {
  const std::string* text = Find(name);
  if (!text) return std::nullopt;
  return ParseNumber(name, *text);
}

int64_t Settings::Integer(const std::string& name, int64_t otherwise,
                          int64_t least, int64_t most) {
  const std::string* text = Find(name);
  const int64_t value = text ? ParseInteger(name, *text) : otherwise;
  if (value < least || value > most) {
    Fail(name, std::to_string(value),
         std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::optional<Duration> Settings::Length(const std::string& name) {
  const std::string* updates = Find(name + "_updates");
  const std::string* epochs = Find(name + "_epochs");
  if (updates && epochs) {
    throw std::invalid_argument("both --" + name + "_updates and --" + name +
                                "_epochs are given");
  }
  if (updates) return Updates(ParseNumber(name + "_updates", *updates));
  if (epochs) return Epochs(ParseNumber(name + "_epochs", *epochs));
  return std::nullopt;
}

std::optional<Points> Settings::List(const std::string& name) {
  const std::string* updates = Find(name + "_updates");
  const std::string* epochs = Find(name + "_epochs");
  if (updates && epochs) {
    throw std::invalid_argument("both --" + name + "_updates and --" + name +
                                "_epochs are given");
  }
  if (updates) {
    std::vector<int64_t> points;
    for (const std::string& item : Split(*updates)) {
      points.push_back(ParseInteger(name + "_updates", item));
    }
    return Updates(points);
  }
  if (epochs) {
    std::vector<double> points;
    for (const std::string& item : Split(*epochs)) {
      points.push_back(ParseNumber(name + "_epochs", item));
    }
    return Epochs(points);
  }
  return std::nullopt;
}

void Settings::CheckAllUsed(const std::string& user) const {
  for (const auto& [name, value] : given_) {
    if (asked_.count(name)) continue;
    std::string all;
    for (const std::string& asked : asked_) all += " --" + asked;
    throw std::invalid_argument("--" + name + " is not a setting of " + user +
                                ", which takes" + all);
  }
}

}  // namespace trainyard
