// Ranks as threads: they train like ranks that are processes.
#include "backends/processes/run_ranks.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "backends/make_backend.h"
#include "backends/testing/ddp_rig.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

std::unique_ptr<Backend> MakeDdp(const Rendezvous& rendezvous) {
  return MakeBackend("ddp", {.device = at::kCPU, .rendezvous = rendezvous});
}

TEST(RunRanksTest, HeaderExample) {
  std::vector<double> sums(2);
  const auto Train = [&](Backend& backend) {
    at::Tensor number = at::ones({}).mul(backend.rank() + 1);
    backend.collectives().AllReduce(number, ReduceOp::kSum);
    sums[backend.rank()] = number.item<double>();
  };
  RunRanks(2, [&](const Rendezvous& rendezvous) {
    const auto backend = MakeBackend("ddp", {.rendezvous = rendezvous});
    Train(*backend);
  });
  EXPECT_EQ(sums, (std::vector<double>{3, 3}));
}

TEST(RunRanksTest, EachRankIsAThreadOfThisProcess) {
  const pid_t pid = getpid();
  std::vector<std::thread::id> threads(4);
  RunRanks(4, [&](const Rendezvous& rendezvous) {
    EXPECT_EQ(getpid(), pid);
    EXPECT_EQ(rendezvous.world_size, 4);
    EXPECT_TRUE(rendezvous.one_machine());
    EXPECT_EQ(rendezvous.rank, rendezvous.local_rank);
    threads[rendezvous.rank] = std::this_thread::get_id();
  });
  EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), 4);
}

TEST(RunRanksTest, TrainsLikeOneProcess) {
  const TinyMlp alone;
  TrainRig(*MakeBackend("sp", {.device = at::kCPU}), alone, {1, 32, 1});
  std::vector<TinyMlp> models(2);
  RunRanks(2, [&](const Rendezvous& rendezvous) {
    TrainRig(*MakeDdp(rendezvous), models[rendezvous.rank], {2, 8, 2});
  });
  EXPECT_LT(Difference(models[0].parameters(), alone.parameters()), 1e-6);
  for (size_t i = 0; i < alone.parameters().size(); ++i) {
    EXPECT_TRUE(
        at::equal(models[0].parameters()[i], models[1].parameters()[i]));
  }
}

// Long before the timeout, which is longer than the test may take.
TEST(RunRanksTest, RethrowsTheFirstErrorAndTheOthersDoNotWait) {
  EXPECT_EQ(ErrorOf<std::runtime_error>([] {
              RunRanks(3, [](const Rendezvous& rendezvous) {
                const auto backend =
                    MakeBackend("ddp", {.device = at::kCPU,
                                        .timeout = std::chrono::hours(1),
                                        .rendezvous = rendezvous});
                if (backend->rank() == 1) throw std::runtime_error("no disk");
                backend->collectives().Barrier();
              });
            }),
            "no disk");
}

TEST(RunRanksTest, RejectsNoRanks) {
  EXPECT_THROW(RunRanks(0, [](const Rendezvous&) {}), c10::ValueError);
}

}  // namespace
}  // namespace trainyard
