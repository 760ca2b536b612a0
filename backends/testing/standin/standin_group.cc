#include "backends/testing/standin/standin_group.h"

#include <ATen/ops/empty_like.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>

#include "backends/processes/device_group.h"
#include "backends/processes/gloo.h"
#include "backends/testing/standin/collective_order.h"
#include "backends/testing/standin/kernels.h"
#include "backends/testing/standin/runtime.h"

namespace trainyard {
namespace standin {
namespace {

using Tensors = std::vector<at::Tensor>;
using Future = c10::ivalue::Future;

class GroupWork final : public c10d::Work {
 public:
  GroupWork(int rank, c10d::OpType type, c10::intrusive_ptr<Future> future)
      : Work(rank, type), future_(std::move(future)) {}

  bool isCompleted() override { return future_->completed(); }
  bool isSuccess() const override { return !future_->hasError(); }
  bool wait(std::chrono::milliseconds) override {
    synchronize();
    return true;
  }
  void synchronize() override {
    future_->wait();
    if (future_->hasError()) std::rethrow_exception(future_->exception_ptr());
  }
  c10::intrusive_ptr<Future> getFuture() override { return future_; }
  Tensors result() override { return future_->value().toTensorVector(); }

 private:
  c10::intrusive_ptr<Future> future_;
};

// Runs tasks in order, in a thread of its own: the stream of a communicator.
class TaskThread {
 public:
  ~TaskThread() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  void Add(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return ended_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool ended_ = false;
  std::thread thread_{[this] { Run(); }};
};

Tensors HostCopies(const Tensors& tensors) {
  Tensors copies;
  for (const at::Tensor& tensor : tensors) {
    copies.push_back(OnHost(tensor).clone(at::MemoryFormat::Contiguous));
  }
  return copies;
}

void CopyBack(const Tensors& from, const Tensors& to) {
  for (size_t i = 0; i < to.size(); ++i) OnHost(to[i]).copy_(from[i]);
}

class Group final : public c10d::Backend {
 public:
  explicit Group(const DeviceGroupOptions& options)
      : Backend(static_cast<int>(options.rendezvous.rank),
                static_cast<int>(options.rendezvous.world_size)),
        store_(options.store),
        device_(options.device),
        stream_(Runtime::Get().NewStream(device_.index())),
        gloo_(MakeGloo(Part("data"), {options.rendezvous, options.timeout})),
        order_(Part("order"),
               MakeGloo(Part("calls"), {options.rendezvous, options.timeout}),
               {.rank = rank_, .size = size_, .timeout = options.timeout}) {}

  const std::string getBackendName() const override { return "standin"; }

  using Handle = c10::intrusive_ptr<c10d::Work>;

  Handle allreduce(Tensors& tensors,
                   const c10d::AllreduceOptions& options) override {
    const c10d::ReduceOp op = options.reduceOp;
    return Enqueue(
        "allreduce", c10d::OpType::ALLREDUCE,
        {.writes = tensors, .argument = static_cast<int64_t>(op)},
        [=, this] { CopyBack(Reduce(HostCopies(tensors), op), tensors); });
  }

  Handle allreduce_coalesced(
      Tensors& tensors,
      const c10d::AllreduceCoalescedOptions& options) override {
    c10d::AllreduceOptions each;
    each.reduceOp = options.reduceOp;
    return allreduce(tensors, each);
  }

  Handle broadcast(Tensors& tensors,
                   const c10d::BroadcastOptions& options) override {
    return Enqueue("broadcast", c10d::OpType::BROADCAST,
                   {.writes = tensors, .argument = options.rootRank},
                   [=, this] {
                     Tensors host = HostCopies(tensors);
                     for (at::Tensor& tensor : host) {
                       Tensors one = {tensor};
                       gloo_->broadcast(one, options)->wait();
                     }
                     CopyBack(host, tensors);
                   });
  }

  Handle allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                   const c10d::AllgatherOptions&) override {
    Tensors written;
    for (const Tensors& list : outputs) {
      written.insert(written.end(), list.begin(), list.end());
    }
    return Enqueue("allgather", c10d::OpType::ALLGATHER,
                   {.reads = inputs, .writes = written}, [=, this] {
                     for (size_t i = 0; i < inputs.size(); ++i) {
                       CopyBack(Gather(inputs[i]), outputs[i]);
                     }
                   });
  }

  Handle _allgather_base(at::Tensor& output, at::Tensor& input,
                         const c10d::AllgatherOptions&) override {
    return Enqueue("allgather_base", c10d::OpType::_ALLGATHER_BASE,
                   {.reads = {input}, .writes = {output}}, [=, this] {
                     const Tensors parts = Gather(input);
                     at::Tensor flat = OnHost(output).view({size_, -1});
                     for (int i = 0; i < size_; ++i) {
                       flat[i].copy_(parts[i].view({-1}));
                     }
                   });
  }

  Handle _reduce_scatter_base(
      at::Tensor& output, at::Tensor& input,
      const c10d::ReduceScatterOptions& options) override {
    const c10d::ReduceOp op = options.reduceOp;
    return Enqueue("reduce_scatter_base", c10d::OpType::_REDUCE_SCATTER_BASE,
                   {.reads = {input},
                    .writes = {output},
                    .argument = static_cast<int64_t>(op)},
                   [=, this] {
                     const Tensors sum = Reduce(HostCopies({input}), op);
                     OnHost(output).copy_(
                         sum[0].view({size_, -1})[rank_].view(output.sizes()));
                   });
  }

  Handle reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                        const c10d::ReduceScatterOptions& options) override {
    const c10d::ReduceOp op = options.reduceOp;
    return Enqueue("reduce_scatter", c10d::OpType::REDUCE_SCATTER,
                   {.reads = inputs.at(0),
                    .writes = outputs,
                    .argument = static_cast<int64_t>(op)},
                   [=, this] {
                     const Tensors sums = Reduce(HostCopies(inputs[0]), op);
                     OnHost(outputs[0]).copy_(sums[rank_]);
                   });
  }

  Handle barrier(const c10d::BarrierOptions&) override {
    return Enqueue("barrier", c10d::OpType::BARRIER, {}, [] {});
  }

 private:
  struct Operands {
    Tensors reads = {};
    Tensors writes = {};
    int64_t argument = 0;
  };

  c10::intrusive_ptr<c10d::Store> Part(const char* name) {
    return c10::make_intrusive<c10d::PrefixStore>(name, store_);
  }

  Tensors Reduce(Tensors tensors, const c10d::ReduceOp& op) {
    c10d::AllreduceOptions options;
    const bool mean = op == c10d::ReduceOp::AVG;
    options.reduceOp = mean ? c10d::ReduceOp(c10d::ReduceOp::SUM) : op;
    for (at::Tensor& tensor : tensors) {
      Tensors one = {tensor};
      gloo_->allreduce(one, options)->wait();
      if (mean) tensor.div_(size_);
    }
    return tensors;
  }

  Tensors Gather(const at::Tensor& input) {
    Tensors mine = HostCopies({input});
    std::vector<Tensors> all(1);
    for (int i = 0; i < size_; ++i) all[0].push_back(at::empty_like(mine[0]));
    gloo_->allgather(all, mine)->wait();
    return all[0];
  }

  // NCCL refuses ranks that share a device. Asked once, at the first call, when
  // all ranks are known to make it.
  void CheckDevices() {
    if (std::exchange(connected_, true) || size_ == 1) return;
    char host[256] = {};
    gethostname(host, sizeof(host) - 1);
    const auto key = [&](int rank) { return "device/" + std::to_string(rank); };
    const std::string mine =
        std::string(host) + " standin:" + std::to_string(device_.index());
    store_->set(key(rank_), mine);
    for (int rank = 0; rank < size_; ++rank) {
      if (rank != rank_ && store_->get_to_str(key(rank)) == mine) {
        C10_THROW_ERROR(
            DistBackendError,
            c10::str("ranks ", rank_, " and ", rank, " both use ", mine,
                     "; every rank needs a device of its own"));
      }
    }
  }

  void CheckTensors(const std::string& name, const Tensors& tensors) const {
    for (const at::Tensor& tensor : tensors) {
      TORCH_CHECK(tensor.device() == device_, "standin: ", name,
                  " of a tensor on ", tensor.device(), " in a communicator on ",
                  device_);
      TORCH_CHECK(
          tensor.is_contiguous() || tensor.is_non_overlapping_and_dense(),
          "standin: ", name, " of a tensor with gaps");
    }
  }

  Handle Enqueue(const std::string& name, c10d::OpType type, Operands operands,
                 std::function<void()> run) {
    Runtime& runtime = Runtime::Get();
    CheckTensors(name, operands.reads);
    CheckTensors(name, operands.writes);
    runtime.CountCollective();
    runtime.StreamWaits(stream_,
                        runtime.Record(runtime.CurrentStream(device_.index())));
    auto kernel = std::make_shared<Kernel>(name, stream_);
    CollectiveCall call = {.kind = name, .argument = operands.argument};
    for (const at::Tensor& tensor : operands.reads) kernel->Reads(tensor);
    for (const at::Tensor& tensor : operands.writes) kernel->Writes(tensor);
    for (const Tensors* list : {&operands.reads, &operands.writes}) {
      for (const at::Tensor& tensor : *list) {
        runtime.RecordStream(tensor.storage().data(), stream_);
        call.type = tensor.scalar_type();
        call.numel += tensor.numel();
      }
    }
    auto future = c10::make_intrusive<Future>(
        c10::ListType::create(c10::TensorType::get()),
        std::vector<c10::Device>{device_});
    auto work = c10::make_intrusive<GroupWork>(rank_, type, future);
    tasks_.Add([=, this]() mutable {
      const c10::StreamGuard guard(stream_);
      try {
        order_.Enter(call);
        CheckDevices();
        run();
        kernel.reset();
        future->markCompleted(operands.writes);
      } catch (const std::exception&) {
        kernel.reset();
        future->setError(std::current_exception());
      }
    });
    return work;
  }

  const c10::intrusive_ptr<c10d::Store> store_;
  const c10::Device device_;
  const c10::Stream stream_;
  const c10::intrusive_ptr<c10d::Backend> gloo_;
  CollectiveOrder order_;
  bool connected_ = false;
  TaskThread tasks_;
};

}  // namespace
}  // namespace standin

void RegisterStandInGroup() {
  RegisterDeviceGroup(standin::kType, [](const DeviceGroupOptions& options) {
    return c10::intrusive_ptr<c10d::Backend>(
        c10::make_intrusive<standin::Group>(options));
  });
}

}  // namespace trainyard
