// OwnStream gives the calling thread a stream of its own on an accelerator, as
// long as it lives. It starts after the work of the stream before, which waits
// for it in the end. On the CPU it does nothing.
//
//   {
//     const OwnStream stream(device);
//     y = x.mul(2);
//   }
//   y.add_(1);
//
// Thread-compatible: destroy it in the thread that made it.
#ifndef TRAINYARD_BACKENDS_OWN_STREAM_H_
#define TRAINYARD_BACKENDS_OWN_STREAM_H_

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <optional>

namespace trainyard {

class OwnStream {
 public:
  explicit OwnStream(at::Device device);
  ~OwnStream();
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

 private:
  // Unset on the CPU.
  std::optional<c10::Stream> before_;
  std::optional<c10::Stream> own_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_OWN_STREAM_H_
