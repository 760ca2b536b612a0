// AppendFile is a file that only grows, through a buffer, and that a resumed
// run can cut back to where its checkpoint was.
//
//   AppendFile file;
//   file.Open("metrics.jsonl", 0);
//   file.Append("{\"step\":1}\n");
//   const int64_t position = file.Sync();  // on the disk
//
// Throws std::system_error, naming the file. Thread-compatible.
#ifndef TRAINYARD_TRACKING_SINKS_APPEND_FILE_H_
#define TRAINYARD_TRACKING_SINKS_APPEND_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

class AppendFile {
 public:
  AppendFile() = default;
  // Flushes, if it can.
  ~AppendFile();

  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  // At 0: an empty file; one that was there becomes `<folder>/old-<name>`, in
  // place of an earlier such file. Else: the file as it was at `position`.
  // Makes the folder. Throws also if the file is shorter than that.
  void Open(const std::string& path, int64_t position);

  void Append(std::string_view text);

  // To the operating system.
  void Flush();
  // To the disk. Returns the file's length.
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
