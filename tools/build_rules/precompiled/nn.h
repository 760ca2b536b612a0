// Precompiled for files that include modules, c10d or autograd's functions.
#ifndef TOOLS_BUILD_RULES_PRECOMPILED_NN_H_
#define TOOLS_BUILD_RULES_PRECOMPILED_NN_H_

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "tools/build_rules/precompiled/tensor.h"

#endif  // TOOLS_BUILD_RULES_PRECOMPILED_NN_H_
