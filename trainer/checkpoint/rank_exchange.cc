#include "trainer/checkpoint/rank_exchange.h"

namespace trainyard {
namespace {

class SingleRankExchange final : public RankExchange {
 public:
  int rank() const override { return 0; }
  int world_size() const override { return 1; }
  absl::StatusOr<std::vector<std::string>> AllGather(
      const std::string& mine) override {
    return std::vector<std::string>{mine};
  }
};

}  // namespace

RankExchange& SingleRank() {
  static SingleRankExchange single;
  return single;
}

}  // namespace trainyard
