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

}  // namespace

std::vector<MemoryPlan> PlanMemory(const MemoryQuestion& question) {
  CheckRange("parameters", question.parameters, kMostParameters);
  CheckRange("ranks", question.ranks, kMostRanks);
  CheckRange("bucket_bytes", question.bucket_bytes, kFloat * kMostParameters);
  if (question.largest) {
    CheckRange("largest", *question.largest, question.parameters);
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
  };
}

}  // namespace trainyard
