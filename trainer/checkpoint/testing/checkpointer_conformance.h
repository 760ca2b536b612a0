// The tests that every Checkpointer must pass. An implementation instantiates
// them in its own test:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, CheckpointerConformanceTest,
//                            ::testing::Values(CheckpointerCase{[] {
//                              return std::make_unique<MemoryCheckpointer>();
//                            }}));
//
// The implementation must keep at least the three newest checkpoints.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TESTING_CHECKPOINTER_CONFORMANCE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TESTING_CHECKPOINTER_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "trainer/checkpoint/checkpointer.h"

namespace trainyard {

struct CheckpointerCase {
  // Returns a checkpointer without checkpoints.
  std::function<std::unique_ptr<Checkpointer>()> make;
};

class CheckpointerConformanceTest
    : public ::testing::TestWithParam<CheckpointerCase> {
 protected:
  void SetUp() override;

  std::unique_ptr<Checkpointer> checkpointer_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TESTING_CHECKPOINTER_CONFORMANCE_H_
