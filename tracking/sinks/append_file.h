// AppendFile is a buffered file that is only appended to. A resumed run can
// truncate it to the length that it had at the checkpoint.
//
//   AppendFile file;
//   file.Open(path, 0);
//   file.Append("{\"step\":1}\n");
//   const int64_t position = file.Sync();  // the bytes on the disk
//
// Every method throws std::system_error, naming the file, if the operating
// system fails. Thread-compatible.
#ifndef TRAINYARD_TRACKING_SINKS_APPEND_FILE_H_
#define TRAINYARD_TRACKING_SINKS_APPEND_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

class AppendFile {
 public:
  AppendFile() = default;
  // Flushes. Errors are ignored.
  ~AppendFile();

  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  // With position 0: creates an empty file; an existing one is renamed to
  // `<folder>/old-<name>`, replacing an earlier one of that name. Otherwise:
  // opens the file and truncates it to `position`; throws if it is shorter.
  // Creates the folder.
  void Open(const std::string& path, int64_t position);

  void Append(std::string_view text);

  // Hands the buffer to the operating system.
  void Flush();
  // Flushes to the disk. Returns the file's length.
  int64_t Sync();

 private:
  void Close();

  std::string path_;
  std::string buffer_;
  int fd_ = -1;
  int64_t written_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_APPEND_FILE_H_
