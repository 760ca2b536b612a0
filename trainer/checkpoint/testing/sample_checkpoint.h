// Small checkpoints for tests, and folders to keep them in.
//
//   const Checkpoint saved = SampleCheckpoint(7);
//   EXPECT_EQ(Describe(loaded), Describe(saved));
//
// Thread-safe, except for TestFolder and FlipBit.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TESTING_SAMPLE_CHECKPOINT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TESTING_SAMPLE_CHECKPOINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"

namespace trainyard {

// Returns a checkpoint with tensors of several types, shapes and strides, and a
// state with every kind of value. All numbers depend on the step.
Checkpoint SampleCheckpoint(int64_t step);

// Returns everything except world_size and own_parts as text, bit for bit.
std::string Describe(const Checkpoint& checkpoint);

// Creates an empty folder for the current test.
std::string TestFolder();

// Returns the sorted names in a folder.
std::vector<std::string> NamesIn(const std::string& folder);

// Inverts one bit of a file.
void FlipBit(const std::string& path, uint64_t byte, int bit = 0);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TESTING_SAMPLE_CHECKPOINT_H_
