#include "tools/inspect/memory_plan.h"

#include <algorithm>
#include <stdexcept>

namespace trainyard {
namespace {

constexpr int64_t kMostParameters = 1'000'000'000'000'000;
constexpr int64_t kMostRanks = 1'000'000;
constexpr int64_t kFloat = 4;

void CheckRange(const std::string& field, int64_t value, int64_t most) {
  if (value >= 1 && value <= most) return;
  throw std::invalid_argument("MemoryQuestion: " + field + " is " +
                              std::to_string(value) + "; it must be 1 to " +
                              std::to_string(most));
}

int64_t Share(int64_t bytes, int64_t ranks) {
  return (bytes + ranks - 1) / ranks;
}

int64_t FsdpExchange(const MemoryQuestion& question, int64_t bucket,
                     int64_t gradient) {
  const int64_t ranks = question.ranks;
  const int64_t sums = 5 * bucket - 2 * Share(bucket, ranks) + gradient;
  // All parameters are whole in backward.
  if (!question.unit) return kFloat * question.parameters + sums;
  const int64_t unit = kFloat * *question.unit;
  const int64_t in_unit = std::min(bucket, unit);
  // One unit is whole and the next one received, while of the gradients two
  // buckets are sent, two received, and one is filled. The slices of the two
  // units' gradients do not exist yet.
  return 2 * unit + 5 * in_unit + gradient - 2 * Share(in_unit, ranks) -
         Share(2 * unit, ranks);
}

}  // namespace

std::vector<MemoryPlan> PlanMemory(const MemoryQuestion& question) {
  CheckRange("parameters", question.parameters, kMostParameters);
  CheckRange("ranks", question.ranks, kMostRanks);
  CheckRange("bucket_bytes", question.bucket_bytes, kFloat * kMostParameters);
  if (question.largest) {
    CheckRange("largest", *question.largest, question.parameters);
  }
  if (question.unit) {
    CheckRange("unit", *question.unit, question.parameters);
    if (*question.unit < question.largest.value_or(1)) {
      throw std::invalid_argument(
          "MemoryQuestion: unit is " + std::to_string(*question.unit) +
          ", less than largest, which is part of a unit");
    }
  }
  const int64_t all = kFloat * question.parameters;
  const int64_t ranks = question.ranks;
  const int64_t limit = std::min(question.bucket_bytes, all);
  const int64_t gradient = kFloat * question.largest.value_or(limit / kFloat);
  // A larger parameter has a bucket of its own.
  const int64_t bucket = std::max(limit, gradient);
  // While two buckets are on their way, their slices do not exist yet.
  const int64_t later = 2 * Share(bucket, ranks);
  return {
      {.backend = "ddp",
       .weights = all,
       .gradients = all,  // views of the buckets
       .state = 2 * all,
       .exchange = gradient},
      {.backend = "zero1",
       .weights = all,
       .gradients = all + Share(all, ranks),  // the buckets, and the slices
       .state = Share(2 * all, ranks),
       // Two buckets of parameters are gathered, or two of gradients received.
       .exchange = std::max(2 * bucket, 2 * bucket - later + gradient)},
      {.backend = "zero2",
       .weights = all,
       .gradients = Share(all, ranks),
       .state = Share(2 * all, ranks),
       // Two buckets are sent, two received, and one is filled.
       .exchange = std::max(2 * bucket, 5 * bucket - later + gradient)},
      {.backend = "fsdp",
       .weights = Share(all, ranks),
       .gradients = Share(all, ranks),
       .state = Share(2 * all, ranks),
       .exchange = FsdpExchange(question, bucket, gradient)},
  };
}

}  // namespace trainyard
