// Precompiled for tests: nn.h and GoogleTest.
#ifndef TOOLS_BUILD_RULES_PRECOMPILED_NN_TEST_CODE_H_
#define TOOLS_BUILD_RULES_PRECOMPILED_NN_TEST_CODE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/build_rules/precompiled/nn.h"

#endif  // TOOLS_BUILD_RULES_PRECOMPILED_NN_TEST_CODE_H_
