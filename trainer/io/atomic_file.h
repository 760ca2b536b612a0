// AtomicFile writes a file that is there as a whole or not at all: into a
// temporary file beside it, which takes the name only when all of it is on the
// disk. What had the name before stays until then. Free of libtorch.
//
//   absl::StatusOr<AtomicFile> file = AtomicFile::Create("model.bin", 24);
//   if (!file.ok()) return file.status();
//   absl::Status status = file->Append(data, 24);
//   if (status.ok()) status = file->Commit();  // durable when it returns OK
//
// A process killed before Commit leaves ".tmp-…" behind; whoever owns the
// folder may remove those. Thread-compatible.
#ifndef TRAINYARD_TRAINER_IO_ATOMIC_FILE_H_
#define TRAINYARD_TRAINER_IO_ATOMIC_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "trainer/io/output_file.h"

namespace trainyard {

class AtomicFile {
 public:
  // What the temporary file's name begins with.
  static constexpr char kPrefix[] = ".tmp-";

  // Takes `size` bytes of the disk at once, so that a full disk shows now.
  static absl::StatusOr<AtomicFile> Create(const std::string& path,
                                           uint64_t size = 0);

  AtomicFile(AtomicFile&& other) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  // Removes what was not committed.
  ~AtomicFile() = default;

  absl::Status Append(const void* data, size_t size);

  // Gives the file its name, in place of what has it. The last call. After an
  // error what had the name has it still, unless the message says that only the
  // new name could not be put on the disk.
  absl::Status Commit();

 private:
  AtomicFile(std::string path, OutputFile file);

  std::string path_;
  OutputFile file_;  // under its temporary name
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_ATOMIC_FILE_H_
