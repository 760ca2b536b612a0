// MemoryFolder is a folder for a test that saves hundreds of checkpoints: on a
// disk such a test would mostly wait for fsync.
//
//   const std::string folder = MemoryFolder() + "/run";
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TESTING_MEMORY_FOLDER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TESTING_MEMORY_FOLDER_H_

#include <string>

namespace trainyard {

// Returns a folder for this test in /dev/shm, or in $TEST_TMPDIR on a machine
// without it. All ranks of a distributed test get the same one. It is deleted
// when the process, or rank 0, ends. Keep less than 10 MB in it.
const std::string& MemoryFolder();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TESTING_MEMORY_FOLDER_H_
