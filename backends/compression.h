// MakeBf16Hook makes a c10d::Reducer send gradients as bfloat16: half the
// bytes, the range of float. (libtorch has such a hook for fp16, but not for
// bfloat16.)
//
//   reducer->register_comm_hook(MakeBf16Hook(group.training()));
#ifndef TRAINYARD_BACKENDS_COMPRESSION_H_
#define TRAINYARD_BACKENDS_COMPRESSION_H_

#include <c10/util/intrusive_ptr.h>

#include <memory>

// Include c10d's own headers, which are large, to call their methods.
namespace c10d {
class CommHookInterface;
class ProcessGroup;
}  // namespace c10d

namespace trainyard {

std::unique_ptr<c10d::CommHookInterface> MakeBf16Hook(
    const c10::intrusive_ptr<c10d::ProcessGroup>& group);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_COMPRESSION_H_
