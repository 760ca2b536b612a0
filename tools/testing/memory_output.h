// MemoryOutput is a stream in memory, for tests of what is printed.
//
//   MemoryOutput output;
//   std::fprintf(output.file(), "epoch %d\n", 1);
//   EXPECT_EQ(output.Written(), "epoch 1\n");
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_TESTING_MEMORY_OUTPUT_H_
#define TRAINYARD_TOOLS_TESTING_MEMORY_OUTPUT_H_

#include <stdio.h>
#include <stdlib.h>

#include <cstddef>
#include <string>

namespace trainyard {

class MemoryOutput {
 public:
  MemoryOutput() : file_(open_memstream(&text_, &size_)) {}
  ~MemoryOutput() {
    fclose(file_);
    free(text_);
  }
  MemoryOutput(const MemoryOutput&) = delete;
  MemoryOutput& operator=(const MemoryOutput&) = delete;

  FILE* file() const { return file_; }

  // What was written since the last call.
  std::string Written() {
    fflush(file_);
    const std::string written(text_ + read_, size_ - read_);
    read_ = size_;
    return written;
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  FILE* file_;
  size_t read_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_TESTING_MEMORY_OUTPUT_H_
