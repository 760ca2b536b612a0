// The sharded backends keep the contract of Backend.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "backends/amp.h"
#include "backends/sharded/fsdp.h"
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

BackendCase Fsdp() {
  return {"fsdp", [] {
            return MakeFsdpBackend(RankGroup(), MakeSingleProcessBackend(
                                                    at::Device(TestDevice())));
          }};
}

BackendCase Amp(const BackendCase& plain, at::ScalarType type,
                const std::string& suffix) {
  return {plain.name + suffix, [plain, type] {
            return MakeAmpBackend(plain.make(), {.dtype = type});
          }};
}

// All ranks make the same calls.
INSTANTIATE_TEST_SUITE_P(OverTwoRanks, BackendConformanceTest,
                         ::testing::Values(Zero(1), Zero(2), Fsdp(),
                                           Amp(Zero(1), at::kBFloat16, "_amp"),
                                           Amp(Zero(2), at::kBFloat16, "_amp"),
                                           Amp(Fsdp(), at::kBFloat16, "_amp"),
                                           Amp(Zero(1), at::kHalf, "_amp_fp16"),
                                           Amp(Zero(2), at::kHalf, "_amp_fp16"),
                                           Amp(Fsdp(), at::kHalf, "_amp_fp16")),
                         BackendCaseName);

}  // namespace
}  // namespace trainyard
