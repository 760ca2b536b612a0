// The examples of headers whose calls need several ranks, which are threads
// here. Includes c10d: some examples call it.
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "backends/processes/call_check.h"
#include "backends/processes/gather.h"
#include "backends/processes/gloo.h"
#include "backends/processes/group_collectives.h"
#include "backends/processes/process_group.h"
#include "backends/processes/rank_order.h"
#include "backends/processes/run_ranks.h"
#include "backends/processes/store.h"

namespace trainyard {
namespace {

TEST(HeaderExamplesTest, ProcessGroup) {
  RunRanks(2, [](const Rendezvous& rendezvous) {
    std::vector<at::Tensor> tensors = {at::ones({3})};
    ProcessGroup group({.rendezvous = rendezvous});
    group.Guard("the sum", [&] { group.side()->allreduce(tensors)->wait(); });
    EXPECT_TRUE(at::equal(tensors[0], at::full({3}, 2.0F)));
  });
}

TEST(HeaderExamplesTest, GroupCollectives) {
  RunRanks(2, [](const Rendezvous& rendezvous) {
    ProcessGroup group({.rendezvous = rendezvous});
    const auto collectives = MakeGroupCollectives(group);
    EXPECT_TRUE(collectives->Any(collectives->rank() == 1));
  });
}

TEST(HeaderExamplesTest, StoreAndGloo) {
  RunRanks(2, [](const Rendezvous& rendezvous) {
    const auto store = OpenStore(rendezvous, std::chrono::minutes(2));
    const auto gloo = MakeGloo(store, {rendezvous, std::chrono::minutes(2)});
    std::vector<at::Tensor> tensors = {at::ones({3})};
    gloo->allreduce(tensors)->wait();
    EXPECT_TRUE(at::equal(tensors[0], at::full({3}, 2.0F)));
  });
}

TEST(HeaderExamplesTest, CallCheck) {
  RunRanks(2, [](const Rendezvous& rendezvous) {
    ProcessGroup group({.rendezvous = rendezvous});
    const auto place = Collectives::Place::current();
    CallCheck check(group);
    const CallAnswers answers = check.Compare({.kind = CallKind::kAny}, place);
    EXPECT_EQ(answers.values, (std::vector<int64_t>{0, 0}));
  });
}

TEST(HeaderExamplesTest, Gather) {
  RunRanks(2, [](const Rendezvous& rendezvous) {
    ProcessGroup group({.rendezvous = rendezvous});
    const auto owner = MakeGroupCollectives(group);
    Collectives& collectives = *owner;
    const at::Tensor predictions = at::full({1}, rendezvous.rank);
    const at::Tensor all = Gather(collectives, predictions);
    EXPECT_TRUE(at::equal(all, at::tensor({int64_t{0}, int64_t{1}})));
    const at::Tensor padded = at::tensor({rendezvous.rank, int64_t{-100}});
    const at::Tensor kept =
        Gather(collectives, padded, {.padding_value = -100});
    EXPECT_TRUE(at::equal(kept, all));
  });
}

TEST(HeaderExamplesTest, RankOrder) {
  std::vector<std::string> order;  // the second rank starts after the first
  RunRanks(2, [&](const Rendezvous& rendezvous) {
    ProcessGroup group({.rendezvous = rendezvous});
    const auto owner = MakeGroupCollectives(group);
    Collectives& collectives = *owner;
    const std::string folder = std::to_string(rendezvous.rank);
    std::string data;
    const auto LoadOrDownload = [&](const std::string& from) {
      order.push_back(from);
      return "data of " + from;
    };
    MainRankFirst(collectives, [&] { data = LoadOrDownload(folder); });
    PrintOncePerNode(collectives, std::cout, "epoch 3\n");
    EXPECT_EQ(data, "data of " + folder);
  });
  EXPECT_EQ(order, (std::vector<std::string>{"0", "1"}));
}

}  // namespace
}  // namespace trainyard
