// MemoryFolder is a folder for a test that saves hundreds of checkpoints: on a
// disk such a test does nothing but wait for fsync.
//
//   const std::string folder = MemoryFolder() + "/run";
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TESTING_MEMORY_FOLDER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TESTING_MEMORY_FOLDER_H_

#include <string>

namespace trainyard {

// A folder of this test's own, in /dev/shm, or in $TEST_TMPDIR on a machine
// without it. All ranks of a distributed test get the same one. It is removed
// when the process ends, or when rank 0 does. Keep less than 10 MB in it.
const std::string& MemoryFolder();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TESTING_MEMORY_FOLDER_H_
