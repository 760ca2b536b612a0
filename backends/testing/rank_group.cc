#include "backends/testing/rank_group.h"

#include <chrono>

#include "backends/processes/rendezvous.h"
#include "tools/launch/testing/test_rank.h"

namespace trainyard {

const std::shared_ptr<ProcessGroup>& RankGroup() {
  // Never destroyed: at exit libtorch's own globals may be gone before it.
  static const auto* const group =
      new std::shared_ptr<ProcessGroup>(std::make_shared<ProcessGroup>(
          ProcessGroupOptions{.rendezvous = RendezvousFromEnvironment(),
                              .device = at::Device(TestDevice()),
                              .timeout = std::chrono::seconds(60)}));
  return *group;
}

}  // namespace trainyard
