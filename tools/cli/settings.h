// Settings reads settings of the form --name=value, from the command line and
// from a file.
//
//   Settings settings({"--lr=3e-3", "--warmup_epochs=1"});
//   const double lr = settings.Number("lr", 1);
//   const Duration warmup = settings.Length("warmup").value_or(Updates(0));
//   settings.CheckAllUsed("cosine");
//
// For tools whose settings depend on other settings, and whose tests call them
// with arguments; other programs use absl flags (parse_flags.h). All methods
// throw std::invalid_argument, naming the setting and its value, for invalid
// input. The object records which settings were read, so that CheckAllUsed can
// reject misspelt ones.
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_CLI_SETTINGS_H_
#define TRAINYARD_TOOLS_CLI_SETTINGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trainer/train_unit.h"

namespace trainyard {

class Settings {
 public:
  // Integers are parsed as doubles, which are exact up to here.
  static constexpr int64_t kLargest = 1'000'000'000'000'000;

  // An argument without a value ("--name") has the value "true".
  explicit Settings(const std::vector<std::string>& arguments);

  // Adds the settings of a file: a line `name=value` each; empty lines and
  // lines that begin with '#' are skipped. Settings of the command line win.
  void AddFile(const std::string& path);

  // Whether the setting is given. The other methods return `otherwise`, or
  // nothing, if it is not.
  bool Has(const std::string& name);
  std::string Text(const std::string& name, const std::string& otherwise);
  bool Flag(const std::string& name);
  double Number(const std::string& name, double otherwise);
  std::optional<double> OptionalNumber(const std::string& name);
  // REQUIRES of the value: least <= value <= most.
  int64_t Integer(const std::string& name, int64_t otherwise,
                  int64_t least = -kLargest, int64_t most = kLargest);

  // Reads --<name>_updates=N or --<name>_epochs=X.
  std::optional<Duration> Length(const std::string& name);
  // Reads a list of them: --<name>_epochs=30,60,80.
  std::optional<Points> List(const std::string& name);

  // Throws if a setting was given that was not read before, with the nearest
  // name and all settings of `user`.
  void CheckAllUsed(const std::string& user) const;

  // Throws: the setting has this value, and `want` is what it must be.
  [[noreturn]] void Reject(const std::string& name, const std::string& value,
                           const std::string& want) const;

 private:
  struct Given {
    std::string value;
    // "run.conf:3"; empty: the command line.
    std::string place;
  };

  const std::string* Find(const std::string& name);
  double ParseNumber(const std::string& name, const std::string& text) const;
  int64_t ParseInteger(const std::string& name, const std::string& text) const;

  std::map<std::string, Given> given_;
  std::set<std::string> asked_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_CLI_SETTINGS_H_
