#include "schedulers/sequential.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Sequential");

struct Part {
  int64_t start = 0;
  std::unique_ptr<Schedule> schedule;
};

class SequentialSchedule final : public Schedule {
 public:
  explicit SequentialSchedule(std::vector<Part> parts)
      : parts_(std::move(parts)) {}

  double ValueAt(int64_t update, double base) const override {
    size_t i = parts_.size() - 1;
    while (parts_[i].start > update) --i;
    return parts_[i].schedule->ValueAt(update - parts_[i].start, base);
  }

 private:
  std::vector<Part> parts_;  // the first starts at 0
};

// "length of part 2", counted as people count.
std::string LengthOf(size_t part) {
  return "length of part " + std::to_string(part + 1);
}

void Check(const std::vector<SequentialPart>& parts) {
  if (parts.empty()) kCheck.Fail("the list of parts is empty");
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].schedule) {
      kCheck.Fail("part " + std::to_string(i + 1) + " has no schedule");
    }
    const bool last = i + 1 == parts.size();
    const std::string field = LengthOf(i);
    if (!last && !parts[i].length) kCheck.Fail(field + " is not set");
    if (last && parts[i].length) {
      kCheck.Fail(field.c_str(), ToString(*parts[i].length),
                  "but the last part takes the rest of the run");
    }
    if (!last) kCheck.ResolvablePeriod(field.c_str(), *parts[i].length);
  }
}

}  // namespace

ScheduleFactory Sequential(std::vector<SequentialPart> parts) {
  Check(parts);
  return [parts = std::move(parts)](
             const RunLength& run) -> std::unique_ptr<Schedule> {
    std::vector<Part> made;
    RunLength rest = run;
    int64_t start = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      RunLength own = rest;
      int64_t length = 0;
      if (parts[i].length) {
        const std::string field = LengthOf(i);
        length = kCheck.Period(field.c_str(), *parts[i].length, run);
        rest = kCheck.Rest(field.c_str(), *parts[i].length, rest);
        own = PartOf(run, length);
      }
      made.push_back({start, parts[i].schedule(own)});
      start += length;
    }
    return std::make_unique<SequentialSchedule>(std::move(made));
  };
}

}  // namespace trainyard
