#include "tools/cli/settings.h"

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "finetuning/near_names.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) {
    items.push_back(item);
  }
  return items;
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

void Settings::Reject(const std::string& name, const std::string& value,
                      const std::string& want) const {
  const auto found = given_.find(name);
  const bool in_file = found != given_.end() && !found->second.place.empty();
  throw std::invalid_argument(
      (in_file ? found->second.place + ": " + name : "--" + name) + " is '" +
      value + "', want " + want);
}

double Settings::ParseNumber(const std::string& name,
                             const std::string& text) const {
  size_t end = 0;
  double value = NAN;
  try {
    value = std::stod(text, &end);
  } catch (const std::logic_error&) {
    end = 0;  // not a number, or out of range
  }
  if (end == 0 || end != text.size() || !std::isfinite(value)) {
    Reject(name, text, "a number");
  }
  return value;
}

int64_t Settings::ParseInteger(const std::string& name,
                               const std::string& text) const {
  const double value = ParseNumber(name, text);
  if (value != std::floor(value) || std::abs(value) > kLargest) {
    Reject(name, text, "an integer");
  }
  return static_cast<int64_t>(value);
}

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
    if (!given_.emplace(name, Given{value, ""}).second) {
      throw std::invalid_argument("--" + name + " is given twice");
    }
  }
}

void Settings::AddFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw std::invalid_argument("cannot read " + path + ": " +
                                std::strerror(errno));
  }
  std::set<std::string> names;
  int64_t number = 0;
  for (std::string text; std::getline(file, text);) {
    const std::string line = Trimmed(text);
    const std::string place = path + ":" + std::to_string(++number);
    if (line.empty() || line.front() == '#') continue;
    const size_t equals = line.find('=');
    const std::string name = Trimmed(line.substr(0, equals));
    if (equals == std::string::npos || name.empty()) {
      throw std::invalid_argument(place + ": '" + line +
                                  "' is not of the form name=value");
    }
    if (!names.insert(name).second) {
      throw std::invalid_argument(place + ": " + name + " is given twice");
    }
    // Keeps what the command line has.
    given_.emplace(name, Given{Trimmed(line.substr(equals + 1)), place});
  }
}

const std::string* Settings::Find(const std::string& name) {
  asked_.insert(name);
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second.value;
}

bool Settings::Has(const std::string& name) { return Find(name) != nullptr; }

std::string Settings::Text(const std::string& name,
                           const std::string& otherwise) {
  const std::string* text = Find(name);
  return text ? *text : otherwise;
}

bool Settings::Flag(const std::string& name) {
  const std::string text = Text(name, "false");
  if (text != "true" && text != "false") Reject(name, text, "true or false");
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
    Reject(name, std::to_string(value),
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
  for (const auto& [name, given] : given_) {
    if (asked_.contains(name)) continue;
    const std::string dashes = given.place.empty() ? "--" : "";
    const std::vector<std::string> names(asked_.begin(), asked_.end());
    std::string all;
    for (const std::string& asked : names) all += " " + dashes + asked;
    const std::vector<std::string> near = NearNames(name, names, 1);
    throw std::invalid_argument(
        (given.place.empty() ? "" : given.place + ": ") + dashes + name +
        " is not a setting of " + user +
        (near.empty() ? "." : "; did you mean " + dashes + near.front() + "?") +
        " It takes" + all);
  }
}

}  // namespace trainyard
