// MakeBf16Hook sends a reducer's gradients as bfloat16: half the bytes, float's
// range. (libtorch has the same for fp16, not for bfloat16.)
//
//   reducer.register_comm_hook(MakeBf16Hook(group));
#ifndef TRAINYARD_BACKENDS_COMPRESSION_H_
#define TRAINYARD_BACKENDS_COMPRESSION_H_

#include <c10/util/intrusive_ptr.h>

#include <memory>

// Whoever calls their methods includes c10d's own headers, which are large.
namespace c10d {
class CommHookInterface;
class ProcessGroup;
}  // namespace c10d

namespace trainyard {

std::unique_ptr<c10d::CommHookInterface> MakeBf16Hook(
    const c10::intrusive_ptr<c10d::ProcessGroup>& group);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_COMPRESSION_H_
