// Precompiled for tests: plain.h and GoogleTest.
#ifndef TOOLS_BUILD_RULES_PRECOMPILED_PLAIN_TEST_CODE_H_
#define TOOLS_BUILD_RULES_PRECOMPILED_PLAIN_TEST_CODE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/build_rules/precompiled/plain.h"

#endif  // TOOLS_BUILD_RULES_PRECOMPILED_PLAIN_TEST_CODE_H_
