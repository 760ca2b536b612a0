// Settings reads settings of the form --name=value, from the command line and
// from a file. Each of them must be used.
//
//   Settings settings({"--lr=3e-3", "--warmup_epochs=1"});
//   const double lr = settings.Number("lr", 1);
//   const Duration warmup = settings.Length("warmup").value_or(Updates(0));
//   settings.CheckAllUsed("cosine");
//
// Errors are std::invalid_argument with the setting and its value. The object
// records which names were asked for: a mistyped setting is an error.
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
  // A setting without a value is "true".
  explicit Settings(const std::vector<std::string>& arguments);

  // Adds the settings of a file: a line `name=value` each; empty lines and
  // lines that begin with '#' are skipped. Settings of the command line win.
  void AddFile(const std::string& path);

  bool Has(const std::string& name);
  std::string Text(const std::string& name, const std::string& otherwise);
  bool Flag(const std::string& name);
  double Number(const std::string& name, double otherwise);
  std::optional<double> OptionalNumber(const std::string& name);
  int64_t Integer(const std::string& name, int64_t otherwise);

  // --<name>_updates=N or --<name>_epochs=X.
  std::optional<Duration> Length(const std::string& name);
  // The same with a list: --<name>_epochs=30,60,80.
  std::optional<Points> List(const std::string& name);

  // Throws if a setting was given that was not asked for, with the nearest name
  // and all names that `user` takes.
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
