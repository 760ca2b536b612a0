#include "backends/own_stream.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace trainyard {
namespace {

// Later work of `later` comes after the work that `earlier` has now.
void Order(const c10::Stream& earlier, const c10::Stream& later) {
  c10::Event done(earlier.device_type());
  done.record(earlier);
  done.block(later);
}

}  // namespace

OwnStream::OwnStream(at::Device device) {
  if (device.is_cpu()) return;
  const c10::impl::VirtualGuardImpl guard(device.type());
  before_ = guard.getStream(device);
  own_ = guard.getNewStream(before_->device());
  Order(*before_, *own_);
  guard.exchangeStream(*own_);
}

OwnStream::~OwnStream() {
  if (!own_) return;
  Order(*own_, *before_);
  c10::impl::VirtualGuardImpl(own_->device_type()).exchangeStream(*before_);
}

}  // namespace trainyard
