// Command-line settings of the form --name=value, each of which must be used.
//
//   Settings settings({"--lr=3e-3", "--warmup_epochs=1"});
//   const double lr = settings.Number("lr", 1);
//   const Duration warmup = settings.Length("warmup").value_or(Updates(0));
//   settings.CheckAllUsed("cosine");
//
// Throws std::invalid_argument, naming the setting and its value, for whatever
// is wrong. Remembers what was asked for, so that a mistyped or useless setting
// is an error instead of nothing.
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

  // Throws if a setting was given that nobody asked for, listing what `user`
  // takes.
  void CheckAllUsed(const std::string& user) const;

 private:
  const std::string* Find(const std::string& name);

  std::map<std::string, std::string> given_;
  std::set<std::string> asked_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_CLI_SETTINGS_H_
