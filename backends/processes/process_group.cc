#include "backends/processes/process_group.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <utility>

#include "backends/processes/call_log.h"
#include "backends/processes/device_group.h"
#include "backends/processes/gloo.h"
#include "backends/processes/open_exchanges.h"
#include "backends/processes/own_address.h"
#include "backends/processes/rank_record.h"
#include "backends/processes/roll_call.h"
#include "backends/processes/share_segment.h"
#include "backends/processes/shared_backend.h"
#include "backends/processes/shared_exchange.h"
#include "backends/processes/store.h"

namespace trainyard {
namespace {

using C10dGroup = c10d::ProcessGroup;

// The largest piece that is exchanged at once. Memory is used from the first
// exchange of its size on.
constexpr size_t kTrainingArea = size_t{32} << 20;
constexpr size_t kSideArea = size_t{4} << 20;

// A rank that has made no call for half of the timeout writes its record, so
// that it is there before the others give up and it is killed.
constexpr std::chrono::milliseconds kLongestQuiet = std::chrono::minutes(1);

RankRecordOptions RecordOptions(const ProcessGroupOptions& options) {
  const Rendezvous& all = options.rendezvous;
  return {.rank = all.rank,
          .world_size = all.world_size,
          .attempt = all.attempt,
          .run = all.address + ":" + std::to_string(all.port),
          .quiet = std::clamp(options.timeout / 2, std::chrono::milliseconds(1),
                              kLongestQuiet)};
}

bool SharedMemoryAllowed(const ProcessGroupOptions& options) {
  const char* const variable = std::getenv("TRAINYARD_SHARED_MEMORY");
  return options.shared_memory &&
         (variable == nullptr || std::string_view(variable) != "0");
}

}  // namespace

ProcessGroup::ProcessGroup(const ProcessGroup& first, int64_t number)
    : options_(first.options_),
      record_(first.record_),
      calls_(&record_->AddThread("other thread " + std::to_string(number))),
      store_(first.store_),
      prefix_(first.prefix_ + "thread/" + std::to_string(number) + "/") {
  const Rendezvous& all = options_.rendezvous;
  roll_call_ = std::make_unique<RollCall>(store_, all.rank, all.world_size);
}

ProcessGroup::ProcessGroup(const ProcessGroupOptions& options)
    : options_(options),
      record_(std::make_shared<RankRecord>(RecordOptions(options))),
      calls_(&record_->AddThread("main")) {
  TORCH_CHECK_VALUE(options.timeout.count() > 0, "ProcessGroup: timeout is ",
                    options.timeout.count(), " ms");
  const at::Device device = options.device;
  TORCH_CHECK_VALUE(device.is_cpu() || HasDeviceGroup(device.type()),
                    "ProcessGroup: device is ", device,
                    "; there are groups on the CPU and on CUDA");
  const Rendezvous& all = options_.rendezvous;
  try {
    const CallLog::Scope call(*calls_, {.what = "connecting"});
    store_ = OpenStore(all, options_.timeout);
  } catch (const std::exception& error) {
    record_->WriteFailure(error.what());
    throw;
  }
  roll_call_ = std::make_unique<RollCall>(store_, all.rank, all.world_size);
  if (all.rank == 0 && !all.one_machine()) {
    std::fprintf(stderr, "%s\n",
                 DescribePlace(all, ChooseOwnAddress(all)).c_str());
  }
  Guard("connecting", [&] {
    training_ = Connect("training", kTrainingArea, /*on_device=*/true);
    side_ = Connect("side", kSideArea, /*on_device=*/true);
  });
}

c10::intrusive_ptr<C10dGroup> ProcessGroup::Connect(const std::string& name,
                                                    size_t area,
                                                    bool on_device) {
  const Rendezvous& all = options_.rendezvous;
  const auto store =
      c10::make_intrusive<c10d::PrefixStore>(prefix_ + name, store_);
  auto group = c10::make_intrusive<C10dGroup>(store, static_cast<int>(all.rank),
                                              static_cast<int>(all.world_size));
  const auto make_gloo = [store, options = options_] {
    return MakeGloo(c10::make_intrusive<c10d::PrefixStore>("gloo", store),
                    {options.rendezvous, options.timeout});
  };
  std::shared_ptr<SharedSegment> segment;
  if (all.one_machine()) {
    segment = MakeSegment(SharedExchange::BytesFor(all.world_size, area));
  }
  if (segment) {
    auto exchange = std::make_unique<SharedExchange>(
        segment, area,
        SharedRanksOptions{all.rank, all.world_size, options_.timeout});
    exchange->ranks().Watch();
    auto open = std::make_shared<OpenExchanges>(std::move(exchange));
    if (shared_exchanges_ == nullptr) {
      shared_exchanges_ = open;
      shared_ranks_ = &open->exchange().ranks();
    }
    // Not CUSTOM: c10d has one backend of each type, and the group of a device
    // other than CUDA is of that type.
    group->setBackend(c10::DeviceType::CPU, C10dGroup::BackendType::GLOO,
                      MakeSharedBackend(std::move(open), make_gloo));
  } else {
    group->setBackend(c10::DeviceType::CPU, C10dGroup::BackendType::GLOO,
                      make_gloo());
  }
  if (on_device && !options_.device.is_cpu()) {
    group->setBackend(
        options_.device.type(),
        options_.device.is_cuda() ? C10dGroup::BackendType::NCCL
                                  : C10dGroup::BackendType::CUSTOM,
        MakeDeviceGroup(
            {c10::make_intrusive<c10d::PrefixStore>("device", store), all,
             options_.device, options_.timeout}));
  }
  return group;
}

std::shared_ptr<SharedSegment> ProcessGroup::MakeSegment(size_t bytes) {
  const Rendezvous& all = options_.rendezvous;
  std::shared_ptr<SharedSegment> segment;
  Guard("sharing memory", [&] {
    segment = ShareSegment(
        *store_, {.name = prefix_ + "segment/" + std::to_string(segments_++),
                  .rank = all.rank,
                  .size = all.world_size,
                  .bytes = bytes,
                  .usable = SharedMemoryAllowed(options_)});
  });
  return segment;
}

ProcessGroup::~ProcessGroup() = default;

std::unique_ptr<ProcessGroup> ProcessGroup::ForAnotherThread() {
  std::unique_ptr<ProcessGroup> other(new ProcessGroup(*this, others_++));
  Guard("connecting for another thread", [&] {
    other->side_ = other->Connect("side", kSideArea, /*on_device=*/false);
  });
  return other;
}

void ProcessGroup::Abandon(const std::string& reason) {
  record_->WriteFailure("ended: " + reason);
  roll_call_->Abandon(reason);
}

void ProcessGroup::Guard(const char* what, c10::function_ref<void()> run,
                         const std::source_location& place) {
  const CallLog::Scope call(*calls_, {.what = what}, place);
  std::string reason;
  try {
    run();
    return;
  } catch (const c10::DistError& e) {
    reason = e.what_without_backtrace();
  } catch (const c10::Error&) {
    throw;  // not of the network
  } catch (const std::exception& e) {
    reason = e.what();  // gloo's own
  }
  // The scope of the call is still open: the record says where it waited.
  const std::string path = record_->WriteFailure(what + (": " + reason));
  C10_THROW_ERROR(
      DistBackendError,
      c10::str(what, " failed on rank ", options_.rendezvous.rank, " of ",
               options_.rendezvous.world_size, ": ", roll_call_->Describe(),
               " (", reason, ")",
               path.empty() ? "" : "; the last calls are in " + path));
}

}  // namespace trainyard
