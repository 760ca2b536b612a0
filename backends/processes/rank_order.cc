#include "backends/processes/rank_order.h"

#include <c10/util/Exception.h>

#include <exception>

namespace trainyard {
namespace {

void FirstThenOthers(Collectives& collectives, bool first,
                     c10::function_ref<void()> function) {
  std::exception_ptr error;
  if (first) {
    try {
      function();
    } catch (...) {
      error = std::current_exception();
    }
  }
  // The others must hear of it, or they would wait.
  const bool failed = collectives.Any(error != nullptr);
  if (error) std::rethrow_exception(error);
  TORCH_CHECK(!failed,
              "what rank 0 or the first rank of a machine had to do "
              "before the others failed there");
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
