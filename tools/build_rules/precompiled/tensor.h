// Precompiled for files that include ATen's tensors and operators.
#ifndef TOOLS_BUILD_RULES_PRECOMPILED_TENSOR_H_
#define TOOLS_BUILD_RULES_PRECOMPILED_TENSOR_H_

#include <ATen/Context.h>
#include <ATen/DeviceGuard.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <torch/optim/optimizer.h>

#include "tools/build_rules/precompiled/plain.h"

// A precompiled header does not instantiate virtual functions of templates:
// clang leaves them to every file that uses it. A call of the function itself,
// not through the table of virtual functions, instantiates it once, here.
// Nothing calls these functions, so no code is made of them.
namespace trainyard::precompiled {

template <typename... Types>
void InstantiateTypes(const Types&... types) {
  ((void)types.Types::equals(types), ...);
  ((void)types.Types::containedTypes(), ...);
}

inline void InstantiateTensorTypes(
    const c10::SingleElementType<c10::TypeKind::ListType, c10::ListType>& list,
    const c10::SingleElementType<c10::TypeKind::FutureType, c10::FutureType>&
        future,
    const c10::SingleElementType<c10::TypeKind::AwaitType, c10::AwaitType>&
        await,
    const c10::SingleElementType<c10::TypeKind::RRefType, c10::RRefType>& ref) {
  InstantiateTypes(list, future, await, ref);
}

}  // namespace trainyard::precompiled

#endif  // TOOLS_BUILD_RULES_PRECOMPILED_TENSOR_H_
