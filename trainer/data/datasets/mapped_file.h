// MappedFile maps a file into memory: pages are read when they are touched, and
// belong to the page cache of the system, not to the process. Free of libtorch.
//
//   absl::StatusOr<MappedFile> file = MappedFile::Open("tokens.bin");
//   if (!file.ok()) return file.status();
//   const char first = file->data()[0];
//
// The file must not be truncated while it is open: reading the lost part raises
// SIGBUS. Thread-safe: const.
#ifndef TRAINYARD_TRAINER_DATA_DATASETS_MAPPED_FILE_H_
#define TRAINYARD_TRAINER_DATA_DATASETS_MAPPED_FILE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>

namespace trainyard {

class MappedFile {
 public:
  // The error names the file: NotFound if it does not exist, InvalidArgument if
  // it is not a regular file.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  const std::string& path() const { return path_; }

  // Advises the system that reads will be random, so that it reads only the
  // pages that are touched.
  void ExpectRandomReads() const;
  // Starts to read a part that will be touched soon.
  void ReadAhead(size_t offset, size_t count) const;

 private:
  MappedFile(std::string path, const char* data, size_t size);

  std::string path_;
  const char* data_;
  size_t size_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_MAPPED_FILE_H_
