#include "backends/testing/rank_group.h"

#include <chrono>

#include "backends/processes/rendezvous.h"

namespace trainyard {

const std::shared_ptr<ProcessGroup>& RankGroup() {
  // Never destroyed: libtorch's own globals may be gone by then.
  static const auto* const group =
      new std::shared_ptr<ProcessGroup>(std::make_shared<ProcessGroup>(
          ProcessGroupOptions{.rendezvous = RendezvousFromEnvironment(),
                              .timeout = std::chrono::seconds(60)}));
  return *group;
}

}  // namespace trainyard
