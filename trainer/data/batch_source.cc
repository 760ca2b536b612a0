#include "trainer/data/batch_source.h"

#include <c10/util/Exception.h>

namespace trainyard {
namespace {

constexpr int64_t kStateVersion = 1;

}  // namespace

void BatchSource::StartEpoch(int64_t epoch, int64_t first_sample) {
  TORCH_CHECK_VALUE(epoch >= 0, "StartEpoch: epoch is ", epoch,
                    "; it must be at least 0");
  TORCH_CHECK_VALUE(first_sample >= 0, "StartEpoch: first_sample is ",
                    first_sample, "; it must be at least 0");
  Start(epoch, first_sample);
  epoch_ = epoch;
}

State BatchSource::SaveState() const {
  State state(kStateVersion);
  state.Set("epoch", epoch());
  state.Set("position", position());
  return state;
}

void BatchSource::LoadState(const State& state) {
  state.CheckVersion(kStateVersion);
  StartEpoch(state.Get<int64_t>("epoch"), state.Get<int64_t>("position"));
}

}  // namespace trainyard
