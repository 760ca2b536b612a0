// MappedFile is a file seen as memory: pages are read when they are touched,
// and belong to the system's page cache, not to the process. Free of libtorch.
//
//   absl::StatusOr<MappedFile> file = MappedFile::Open("tokens.bin");
//   if (!file.ok()) return file.status();
//   const char first = file->data()[0];
//
// The file must not be cut short while it is open: touching what is gone is a
// signal. Thread-safe: const.
#ifndef TRAINYARD_TRAINER_DATA_DATASETS_MAPPED_FILE_H_
#define TRAINYARD_TRAINER_DATA_DATASETS_MAPPED_FILE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>

namespace trainyard {

class MappedFile {
 public:
  // The error names the file: not there (NotFound), not a regular file
  // (InvalidArgument), …
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  const std::string& path() const { return path_; }

  // Says that parts will be read in no order: the system then reads just what
  // is touched.
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
