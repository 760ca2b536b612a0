// The examples of headers whose calls need several ranks, which are threads
// here. Includes c10d: some examples call it.
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>
#include <vector>

#include "backends/processes/call_check.h"
#include "backends/processes/gather.h"
#include "backends/processes/gloo.h"
#include "backends/processes/group_collectives.h"
#include "backends/processes/open_exchanges.h"
#include "backends/processes/process_group.h"
#include "backends/processes/rank_order.h"
#include "backends/processes/run_ranks.h"
#include "backends/processes/share_segment.h"
#include "backends/processes/shared_backend.h"
#include "backends/processes/shared_exchange.h"
#include "backends/processes/shared_ranks.h"
#include "backends/processes/shared_segment.h"
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

TEST(HeaderExamplesTest, SharedSegment) {
  const auto mine = SharedSegment::Create(1 << 20);
  const std::string address = mine->address();
  const auto same = SharedSegment::Open(address, 1 << 20);
  mine->data()[5] = std::byte{7};
  EXPECT_EQ(same->data()[5], std::byte{7});
}

TEST(HeaderExamplesTest, ShareSegment) {
  RunRanks(2, [](const Rendezvous& rendezvous) {
    const auto store = OpenStore(rendezvous, std::chrono::minutes(2));
    const int64_t rank = rendezvous.rank;
    const int64_t size = rendezvous.world_size;
    const auto segment = ShareSegment(
        *store, {.name = "sums", .rank = rank, .size = size, .bytes = 4096});
    if (segment == nullptr) FAIL();  // use the network
    // One rank that cannot use it is enough.
    EXPECT_EQ(ShareSegment(*store, {.name = "other",
                                    .rank = rank,
                                    .size = size,
                                    .bytes = 4096,
                                    .usable = rank == 0}),
              nullptr);
  });
}

TEST(HeaderExamplesTest, SharedRanks) {
  const auto segment = SharedSegment::Create(4096);
  const auto counter = [&](size_t rank) -> SharedCounter& {
    return *std::launder(reinterpret_cast<SharedCounter*>(
        segment->data() + 2048 + rank * sizeof(SharedCounter)));
  };
  std::thread other([&] {
    SharedRanks ranks(segment, {.rank = 1, .size = 2});
    ranks.Watch();
    ranks.Publish(counter(1), 1);
    ranks.Wait(counter(0), 1, 0);
  });
  SharedCounter& own_counter = counter(0);
  const SharedCounter& their_counter = counter(1);
  SharedRanks ranks(segment, {.rank = 0, .size = 2});
  ranks.Watch();  // waits for the other ranks
  ranks.Publish(own_counter, 1);
  ranks.Wait(their_counter, 1, /*rank=*/1);
  other.join();
}

TEST(HeaderExamplesTest, SharedExchange) {
  const auto segment = SharedSegment::Create(SharedExchange::BytesFor(2, 4096));
  std::string read;
  const auto Read = [&](const std::byte* data, size_t bytes) {
    read.assign(reinterpret_cast<const char*>(data), bytes);
  };
  std::thread other([&] {
    SharedExchange exchange(segment, 4096, {.rank = 1, .size = 2});
    exchange.Complete(exchange.Post(7, "hello", 5), [](const auto&) {});
  });
  SharedExchange exchange(segment, 4096, {.rank = 0, .size = 2});
  const int mine = 3;
  const uint32_t number = exchange.Post(/*tag=*/7, &mine, sizeof(mine));
  exchange.Complete(number, [&](const SharedExchange::Parts& parts) {
    Read(parts[1].data, parts[1].bytes);  // of rank 1
  });
  other.join();
  EXPECT_EQ(read, "hello");
}

TEST(HeaderExamplesTest, SharedBackend) {
  RunRanks(2, [](const Rendezvous& rendezvous) {
    const auto store = OpenStore(rendezvous, std::chrono::minutes(2));
    const int rank = static_cast<int>(rendezvous.rank);
    const int size = static_cast<int>(rendezvous.world_size);
    const auto segment =
        ShareSegment(*store, {.name = "backend",
                              .rank = rank,
                              .size = size,
                              .bytes = SharedExchange::BytesFor(size, 1024)});
    auto exchange = std::make_unique<SharedExchange>(
        segment, 1024, SharedRanksOptions{.rank = rank, .size = size});
    const auto open = std::make_shared<OpenExchanges>(std::move(exchange));
    auto group = c10::make_intrusive<c10d::ProcessGroup>(store, rank, size);
    group->setBackend(
        c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::CUSTOM,
        MakeSharedBackend(open, [&] {
          return MakeGloo(store, {rendezvous, std::chrono::minutes(2)});
        }));
    // Larger than an area, and not contiguous.
    std::vector<at::Tensor> tensors = {at::ones({50, 30}).t()};
    group->allreduce(tensors)->wait();
    EXPECT_TRUE(at::equal(tensors[0], at::full({30, 50}, 2.0F)));
    // What shared memory has no code for.
    std::vector<at::Tensor> bits = {at::full({1}, rank + 1, at::kInt)};
    c10d::AllreduceOptions either;
    either.reduceOp = c10d::ReduceOp::BOR;
    group->allreduce(bits, either)->wait();
    EXPECT_EQ(bits[0].item<int>(), 3);
    // A part for each rank: the sum of its rows.
    at::Tensor rows = at::arange(1200, at::kFloat).add(rank).reshape({2, 600});
    at::Tensor own_row = at::zeros({600});
    group->reduce_scatter_single(own_row, rows)->wait();
    EXPECT_TRUE(at::equal(
        own_row,
        at::arange(1200, at::kFloat).mul(2).add(1).reshape({2, 600})[rank]));
    at::Tensor all = at::zeros({2, 600});
    group->all_gather_single(all, own_row)->wait();
    EXPECT_TRUE(at::equal(
        all, at::arange(1200, at::kFloat).mul(2).add(1).reshape({2, 600})));
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
