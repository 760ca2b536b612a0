#include "backends/processes/slurm_lists.h"

#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace trainyard {
namespace {

// Reads a number at the front of `text` and removes it.
int64_t TakeNumber(std::string_view& text, const std::string& whole) {
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) {
    throw std::invalid_argument("\"" + whole +
                                "\" is not a list of tasks per node");
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::string FirstSlurmHost(const std::string& hosts) {
  const size_t bracket = hosts.find('[');
  const size_t comma = hosts.find(',');
  if (bracket == std::string::npos || comma < bracket) {
    return hosts.substr(0, comma);
  }
  const size_t end = hosts.find_first_of("-,]", bracket + 1);
  if (end == std::string::npos) {
    throw std::invalid_argument("\"" + hosts + "\" has no closing ]");
  }
  return hosts.substr(0, bracket) +
         hosts.substr(bracket + 1, end - bracket - 1);
}

int64_t SlurmTasksOnNode(const std::string& tasks_per_node, int64_t node) {
  std::string_view text = tasks_per_node;
  int64_t nodes = 0;
  do {
    const int64_t tasks = TakeNumber(text, tasks_per_node);
    int64_t repeats = 1;
    if (TakePrefix(text, "(x")) {
      repeats = TakeNumber(text, tasks_per_node);
      TakePrefix(text, ")");
    }
    nodes += repeats;
    if (node < nodes) return tasks;
  } while (TakePrefix(text, ","));
  throw std::invalid_argument("\"" + tasks_per_node + "\" has no node " +
                              std::to_string(node));
}

}  // namespace trainyard
