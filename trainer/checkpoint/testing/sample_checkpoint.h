// Small checkpoints for tests, and folders to keep them in.
//
//   Checkpoint saved = SampleCheckpoint(7);
//   EXPECT_EQ(Describe(loaded), Describe(saved));
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TESTING_SAMPLE_CHECKPOINT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TESTING_SAMPLE_CHECKPOINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"

namespace trainyard {

// Tensors of several types, shapes and strides, and a state of every kind of
// value. All numbers depend on the step.
Checkpoint SampleCheckpoint(int64_t step);

// All of it but world_size as text, bit for bit.
std::string Describe(const Checkpoint& checkpoint);

// An empty folder that is this test's own.
std::string TestFolder();

// Names in a folder, sorted.
std::vector<std::string> NamesIn(const std::string& folder);

// Turns one bit of a file.
void FlipBit(const std::string& path, uint64_t byte, int bit = 0);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TESTING_SAMPLE_CHECKPOINT_H_
