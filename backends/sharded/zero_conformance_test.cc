// The zero backends keep the contract of Backend.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "backends/amp.h"
#include "backends/sharded/zero.h"
#include "backends/single_process.h"
#include "backends/testing/backend_conformance.h"
#include "backends/testing/rank_group.h"
#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

BackendCase Zero(int stage) {
  return {"zero" + std::to_string(stage), [stage] {
            return MakeZeroBackend(
                RankGroup(), MakeSingleProcessBackend(at::Device(TestDevice())),
                {.stage = stage});
          }};
}

BackendCase Amp(int stage, at::ScalarType type, const std::string& suffix) {
  const BackendCase zero = Zero(stage);
  return {zero.name + suffix, [zero, type] {
            return MakeAmpBackend(zero.make(), {.dtype = type});
          }};
}

// All ranks make the same calls.
INSTANTIATE_TEST_SUITE_P(OverTwoRanks, BackendConformanceTest,
                         ::testing::Values(Zero(1), Zero(2),
                                           Amp(1, at::kBFloat16, "_amp"),
                                           Amp(2, at::kBFloat16, "_amp"),
                                           Amp(1, at::kHalf, "_amp_fp16"),
                                           Amp(2, at::kHalf, "_amp_fp16")),
                         BackendCaseName);

}  // namespace
}  // namespace trainyard
