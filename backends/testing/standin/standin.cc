#include "backends/testing/standin/standin.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <mutex>

#include "backends/testing/standin/generator.h"
#include "backends/testing/standin/kernels.h"
#include "backends/testing/standin/runtime.h"
#include "backends/testing/standin/standin_graph.h"

namespace trainyard {
namespace standin {
namespace {

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override {
    return {kType, Runtime::Get().current_device()};
  }
  void setDevice(c10::Device device) const override {
    if (device.has_index()) Runtime::Get().set_current_device(device.index());
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    setDevice(device);
  }
  c10::DeviceIndex deviceCount() const noexcept override { return kNumDevices; }

  c10::Stream getStream(c10::Device device) const override {
    return Runtime::Get().CurrentStream(Index(device));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, {kType, Index(device)});
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return Runtime::Get().PoolStream(Index(device));
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return Runtime::Get().NewStream(Index(device));
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return Runtime::Get().ExchangeStream(stream);
  }
  bool queryStream(const c10::Stream& stream) const override {
    return Runtime::Get().Query(stream);
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    Runtime::Get().HostWaits(stream, "synchronizeStream");
  }
  void synchronizeDevice(c10::DeviceIndex device) const override {
    Runtime::Get().HostWaitsForDevice(device);
  }
  bool isStreamCapturing(const c10::Stream& stream) const override {
    return Runtime::Get().Captures(stream);
  }
  void recordDataPtrOnStream(const c10::DataPtr& data,
                             const c10::Stream& stream) const override {
    Runtime::Get().RecordStream(data.get(), stream);
  }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex,
              c10::EventFlag) const override {
    if (*event == nullptr) *event = new RecordedEvent;
    *static_cast<RecordedEvent*>(*event) = Runtime::Get().Record(stream);
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event == nullptr) return;
    Runtime::Get().StreamWaits(stream, *static_cast<RecordedEvent*>(event));
  }
  bool queryEvent(void* event) const override {
    return event == nullptr ||
           Runtime::Get().Query(*static_cast<RecordedEvent*>(event));
  }
  void synchronizeEvent(void* event) const override {
    if (event == nullptr) return;
    Runtime::Get().HostWaits(*static_cast<RecordedEvent*>(event),
                             "synchronizeEvent");
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<RecordedEvent*>(event);
  }

 private:
  static c10::DeviceIndex Index(c10::Device device) {
    return device.has_index() ? device.index()
                              : Runtime::Get().current_device();
  }
};

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return kNumDevices; }
  void setCurrentDevice(c10::DeviceIndex device) const override {
    Runtime::Get().set_current_device(device);
  }
  c10::DeviceIndex getCurrentDevice() const override {
    return Runtime::Get().current_device();
  }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    const c10::DeviceIndex before = getCurrentDevice();
    setCurrentDevice(device);
    return before;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return exchangeDevice(device);
  }
  bool isPinnedPtr(const void* data) const override {
    return Runtime::Get().IsPinned(data);
  }
  c10::Allocator* getPinnedMemoryAllocator() const override {
    return Runtime::Get().pinned_allocator();
  }
  const at::Generator& getDefaultGenerator(
      c10::DeviceIndex device) const override {
    return DefaultGenerator(device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return NewGenerator(device);
  }
};

}  // namespace
}  // namespace standin

void RegisterStandIn() {
  static std::once_flag once;
  std::call_once(once, [] {
    // libtorch keeps both as long as the process lives.
    c10::impl::DeviceGuardImplRegistrar(standin::kType, new standin::Guard);
    at::RegisterPrivateUse1HooksInterface(new standin::Hooks);
    c10::SetAllocator(standin::kType, standin::Runtime::Get().allocator());
    c10::register_privateuse1_backend("standin");
    standin::RegisterKernels();
    standin::RegisterMemoryKernels();
    standin::RegisterAutocast();
    RegisterStepGraph(standin::kType, &MakeStandInGraph);
  });
}

bool StandInIsRegistered() { return at::isPrivateUse1HooksRegistered(); }

at::Device StandInDevice(int index) {
  return {standin::kType, static_cast<c10::DeviceIndex>(index)};
}

StandInCount StandInCounts() { return standin::Runtime::Get().counts(); }

int64_t StandInLaunches() { return standin::Runtime::Get().launches(); }

void ResetStandInCounts() { standin::Runtime::Get().ResetCounts(); }

std::vector<std::string> StandInSynchronizations() {
  return standin::Runtime::Get().synchronizations();
}

std::vector<std::string> TakeStandInErrors() {
  return standin::Runtime::Get().TakeErrors();
}

void SetStandInLag(int64_t launches) {
  standin::Runtime::Get().set_lag(launches);
}

}  // namespace trainyard
