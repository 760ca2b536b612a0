#include "backends/processes/rank_order.h"

#include "backends/while_others_wait.h"

namespace trainyard {
namespace {

void FirstThenOthers(Collectives& collectives, bool first,
                     c10::function_ref<void()> function) {
  WhileOthersWait(collectives, first, function);
  if (!first) function();
}

}  // namespace

void MainRankFirst(Collectives& collectives,
                   c10::function_ref<void()> function) {
  FirstThenOthers(collectives, collectives.rank() == 0, function);
}

void LocalMainRankFirst(Collectives& collectives,
                        c10::function_ref<void()> function) {
  FirstThenOthers(collectives, collectives.local_rank() == 0, function);
}

void PrintOncePerNode(const Collectives& collectives, std::ostream& stream,
                      std::string_view text) {
  if (collectives.local_rank() == 0) stream << text << std::flush;
}

}  // namespace trainyard
