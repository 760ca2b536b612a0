// Precompiled for files that include ATen's tensors and operators.
#ifndef TOOLS_BUILD_RULES_PRECOMPILED_TENSOR_H_
#define TOOLS_BUILD_RULES_PRECOMPILED_TENSOR_H_

#include <ATen/Context.h>
#include <ATen/DeviceGuard.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include "tools/build_rules/precompiled/plain.h"

#endif  // TOOLS_BUILD_RULES_PRECOMPILED_TENSOR_H_
