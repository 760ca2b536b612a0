#include "trainer/data/datasets/token_file.h"

#include <ATen/ops/empty.h>
#include <absl/strings/str_cat.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "trainer/data/batch.h"
#include "trainer/data/datasets/mapped_file.h"
#include "trainer/data/datasets/mapped_samples.h"
#include "trainer/io/gzip_file.h"

namespace trainyard {
namespace {

bool IsTokenType(at::ScalarType type) {
  return type == at::kByte || type == at::kUInt16 || type == at::kInt ||
         type == at::kLong;
}

template <class Token>
void Widen(const char* from, int64_t count, int64_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    Token token;  // in the file, tokens may be unaligned
    std::memcpy(&token, from + static_cast<size_t>(i) * sizeof(Token),
                sizeof(Token));
    to[i] = static_cast<int64_t>(token);
  }
}

class TokenFile final : public Dataset {
 public:
  TokenFile(MappedFile file, const TokenFileOptions& options, int64_t stride,
            int64_t size)
      : file_(std::move(file)),
        options_(options),
        stride_(stride),
        size_(size) {
    file_.ExpectRandomReads();
  }

  int64_t size() const override { return size_; }

  AnyBatch Gather(const at::Tensor& indices) const override {
    const int64_t length = options_.length;
    const size_t bytes =
        static_cast<size_t>(length + 1) * c10::elementSize(options_.type);
    const std::vector<const char*> starts = ReadAhead(
        file_, {.first = 0, .step = Step(), .bytes = bytes, .count = size_},
        indices);
    // One window that is a token longer holds input and target.
    const at::Tensor windows =
        at::empty({std::ssize(starts), length + 1}, at::kLong);
    int64_t* to = windows.data_ptr<int64_t>();
    for (const char* start : starts) {
      Copy(start, to);
      to += length + 1;
    }
    return AnyBatch(Example{windows.narrow(1, 0, length).contiguous(),
                            windows.narrow(1, 1, length).contiguous()});
  }

 private:
  size_t Step() const {
    return static_cast<size_t>(stride_) * c10::elementSize(options_.type);
  }
  void Copy(const char* from, int64_t* to) const {
    const int64_t count = options_.length + 1;
    switch (options_.type) {
      case at::kByte:
        return Widen<uint8_t>(from, count, to);
      case at::kUInt16:
        return Widen<uint16_t>(from, count, to);
      case at::kInt:
        return Widen<int32_t>(from, count, to);
      default:
        return Widen<int64_t>(from, count, to);
    }
  }

  MappedFile file_;
  TokenFileOptions options_;
  int64_t stride_;
  int64_t size_;
};

}  // namespace

absl::StatusOr<DatasetPtr> OpenTokenFile(const std::string& path,
                                         const TokenFileOptions& options) {
  TORCH_CHECK_VALUE(IsTokenType(options.type), "OpenTokenFile: type is ",
                    options.type, "; tokens are uint8, uint16, int32 or int64");
  TORCH_CHECK_VALUE(options.length >= 1, "OpenTokenFile: length is ",
                    options.length, "; it must be at least 1");
  const int64_t stride = options.stride.value_or(options.length);
  TORCH_CHECK_VALUE(stride >= 1, "OpenTokenFile: stride is ", stride,
                    "; it must be at least 1");
  absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  const size_t width = c10::elementSize(options.type);
  if (file->size() % width != 0) {
    return absl::DataLossError(
        absl::StrCat(path, ": holds ", file->size(),
                     " bytes, which is not a multiple of the ", width,
                     " bytes of a token: the file is truncated or has another "
                     "type"));
  }
  const auto tokens = static_cast<int64_t>(file->size() / width);
  if (tokens < options.length + 1) {
    return absl::DataLossError(
        absl::StrCat(path, ": holds ", tokens, " tokens; one sample needs ",
                     options.length + 1, ", its length and one to predict"));
  }
  const int64_t size = (tokens - options.length - 1) / stride + 1;
  return std::make_shared<const TokenFile>(*std::move(file), options, stride,
                                           size);
}

absl::Status WriteTokenFile(const std::string& path, const at::Tensor& tokens,
                            at::ScalarType type) {
  TORCH_CHECK_VALUE(IsTokenType(type), "WriteTokenFile: type is ", type,
                    "; tokens are uint8, uint16, int32 or int64");
  const at::Tensor wide = tokens.to(at::kCPU, at::kLong).contiguous();
  const at::Tensor narrow = wide.to(type);
  if (!narrow.to(at::kLong).equal(wide)) {
    return absl::OutOfRangeError(
        absl::StrCat(path, ": a token does not fit into ",
                     c10::elementSize(type), " bytes"));
  }
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(narrow.data_ptr()),
             static_cast<std::streamsize>(narrow.nbytes()));
  file.close();
  if (!file) {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat(path, ": cannot be written"));
  }
  return absl::OkStatus();
}

absl::StatusOr<at::Tensor> TextTokens(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadMaybeGzipFile(path);
  if (!text.ok()) return text.status();
  at::Tensor tokens =
      at::empty({static_cast<int64_t>(text->size())}, at::kLong);
  std::ranges::transform(*text, tokens.data_ptr<int64_t>(), [](char byte) {
    return static_cast<int64_t>(static_cast<unsigned char>(byte));
  });
  return tokens;
}

}  // namespace trainyard
