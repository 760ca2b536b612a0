#include "callbacks/filters.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace trainyard {

Filter EveryNth(int64_t n) {
  if (n < 1) {
    throw std::invalid_argument("EveryNth: n is " + std::to_string(n) +
                                "; it must be at least 1");
  }
  return [n](int64_t occurrence) { return occurrence % n == 0; };
}

Filter Once() {
  return [](int64_t occurrence) { return occurrence == 1; };
}

Filter MainRankOnly(int64_t rank) {
  return [rank](int64_t) { return rank == 0; };
}

Filter Both(Filter first, Filter second) {
  return [first = std::move(first),
          second = std::move(second)](int64_t occurrence) {
    return first(occurrence) && second(occurrence);
  };
}

}  // namespace trainyard
