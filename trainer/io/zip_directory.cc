#include "trainer/io/zip_directory.h"

#include <absl/strings/str_cat.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryHeader = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEnd64Locator = 0x07064b50;
constexpr size_t kLocalHeaderSize = 30;
constexpr size_t kDirectoryHeaderSize = 46;
constexpr size_t kEndSize = 22;
constexpr size_t kEnd64Size = 56;
constexpr size_t kEnd64LocatorSize = 20;
constexpr size_t kMaxComment = 0xffff;
// The value of a 32-bit field whose number is in a zip64 field.
constexpr uint32_t kIn64 = 0xffffffff;
constexpr uint16_t kZip64Field = 1;
constexpr uint16_t kEncrypted = 1;

// Little-endian. REQUIRES: at + bytes <= text.size().
uint64_t Number(std::string_view text, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(text[at + i]);
  }
  return value;
}

absl::Status Damaged(const InputFile& file, std::string_view what) {
  return absl::DataLossError(
      absl::StrCat(file.path(), ": ", std::string(what)));
}

absl::StatusOr<std::string> Bytes(const InputFile& file, uint64_t offset,
                                  uint64_t count) {
  if (offset > file.size() || count > file.size() - offset) {
    return Damaged(file, "the zip archive refers to bytes behind its end");
  }
  std::string bytes(count, '\0');
  const absl::Status read = file.ReadAt(offset, bytes.data(), count);
  if (!read.ok()) return read;
  return bytes;
}

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t entries = 0;
};

// Reads the zip64 record, whose locator is just before the record at `end`.
absl::StatusOr<Directory> FindDirectory64(const InputFile& file, uint64_t end) {
  if (end < kEnd64LocatorSize) return Damaged(file, "has no zip64 locator");
  const auto locator = Bytes(file, end - kEnd64LocatorSize, kEnd64LocatorSize);
  if (!locator.ok()) return locator.status();
  if (Number(*locator, 0, 4) != kEnd64Locator) {
    return Damaged(file, "has no zip64 locator");
  }
  const auto record = Bytes(file, Number(*locator, 8, 8), kEnd64Size);
  if (!record.ok()) return record.status();
  if (Number(*record, 0, 4) != kEnd64) {
    return Damaged(file, "has no zip64 directory");
  }
  return Directory{.offset = Number(*record, 48, 8),
                   .size = Number(*record, 40, 8),
                   .entries = Number(*record, 32, 8)};
}

absl::StatusOr<Directory> FindDirectory(const InputFile& file) {
  const uint64_t count =
      std::min<uint64_t>(file.size(), kEndSize + kMaxComment);
  const auto tail = Bytes(file, file.size() - count, count);
  if (!tail.ok()) return tail.status();
  for (size_t behind = kEndSize; behind <= tail->size(); ++behind) {
    const size_t at = tail->size() - behind;
    if (Number(*tail, at, 4) != kEnd) continue;
    if (Number(*tail, at + 20, 2) != behind - kEndSize) continue;
    const Directory found{.offset = Number(*tail, at + 16, 4),
                          .size = Number(*tail, at + 12, 4),
                          .entries = Number(*tail, at + 10, 2)};
    if (found.offset == kIn64 || found.size == kIn64 ||
        found.entries == 0xffff) {
      return FindDirectory64(file, file.size() - behind);
    }
    return found;
  }
  return Damaged(file, "is not a zip archive, or its end is missing");
}

// Replaces numbers that do not fit into 32 bits by those of the zip64 field.
bool Take64(std::string_view extra, uint64_t& size, uint64_t& packed,
            uint64_t& offset) {
  while (extra.size() >= 4) {
    const uint64_t kind = Number(extra, 0, 2);
    const uint64_t length = Number(extra, 2, 2);
    extra.remove_prefix(4);
    if (length > extra.size()) return false;
    if (kind == kZip64Field) {
      std::string_view field = extra.substr(0, length);
      for (uint64_t* const number : {&size, &packed, &offset}) {
        if (*number != kIn64) continue;
        if (field.size() < 8) return false;
        *number = Number(field, 0, 8);
        field.remove_prefix(8);
      }
      return true;
    }
    extra.remove_prefix(length);
  }
  return size != kIn64 && packed != kIn64 && offset != kIn64;
}

// Takes one entry from the front of the directory. Its offset is that of its
// local header.
absl::StatusOr<ZipEntry> TakeEntry(const InputFile& file,
                                   std::string_view& directory) {
  if (directory.size() < kDirectoryHeaderSize ||
      Number(directory, 0, 4) != kDirectoryHeader) {
    return Damaged(file, "the directory of the zip archive is damaged");
  }
  const uint64_t flags = Number(directory, 8, 2);
  const uint64_t method = Number(directory, 10, 2);
  const uint64_t name_size = Number(directory, 28, 2);
  const uint64_t extra_size = Number(directory, 30, 2);
  const uint64_t comment_size = Number(directory, 32, 2);
  ZipEntry entry{.offset = Number(directory, 42, 4),
                 .size = Number(directory, 24, 4),
                 .crc32 = static_cast<uint32_t>(Number(directory, 16, 4))};
  uint64_t packed = Number(directory, 20, 4);
  directory.remove_prefix(kDirectoryHeaderSize);
  if (name_size + extra_size + comment_size > directory.size()) {
    return Damaged(file, "the directory of the zip archive is cut off");
  }
  entry.name = std::string(directory.substr(0, name_size));
  const std::string_view extra = directory.substr(name_size, extra_size);
  directory.remove_prefix(name_size + extra_size + comment_size);
  entry.plain = method == 0 && (flags & kEncrypted) == 0;
  if (!Take64(extra, entry.size, packed, entry.offset) ||
      (entry.plain && packed != entry.size)) {
    return Damaged(file, absl::StrCat("the sizes of ", QuotedName(entry.name),
                                      " are damaged"));
  }
  entry.size = packed;
  return entry;
}

// Moves the offset from the local header to the bytes behind it.
absl::Status SkipLocalHeader(const InputFile& file, ZipEntry& entry) {
  const auto header = Bytes(file, entry.offset, kLocalHeaderSize);
  if (!header.ok()) return header.status();
  const uint64_t name_size = Number(*header, 26, 2);
  const auto name = Bytes(file, entry.offset + kLocalHeaderSize, name_size);
  if (!name.ok()) return name.status();
  if (Number(*header, 0, 4) != kLocalHeader || *name != entry.name) {
    return Damaged(file, absl::StrCat("the header of ", QuotedName(entry.name),
                                      " is damaged"));
  }
  entry.offset += kLocalHeaderSize + name_size + Number(*header, 28, 2);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ZipEntry>> ReadZipDirectory(const InputFile& file) {
  const absl::StatusOr<Directory> found = FindDirectory(file);
  if (!found.ok()) return found.status();
  if (found->size > kMaxZipDirectory) {
    return Damaged(file, "the directory of the zip archive is too large");
  }
  const auto bytes = Bytes(file, found->offset, found->size);
  if (!bytes.ok()) return bytes.status();
  std::string_view rest = *bytes;
  std::vector<ZipEntry> entries;
  while (!rest.empty()) {
    absl::StatusOr<ZipEntry> entry = TakeEntry(file, rest);
    if (!entry.ok()) return entry.status();
    const absl::Status skipped = SkipLocalHeader(file, *entry);
    if (!skipped.ok()) return skipped;
    entries.push_back(*std::move(entry));
  }
  if (entries.size() != found->entries) {
    return Damaged(file,
                   "the zip archive has another number of entries than "
                   "it says");
  }
  std::sort(entries.begin(), entries.end(),
            [](const ZipEntry& a, const ZipEntry& b) {
              return std::pair(a.offset, a.size) < std::pair(b.offset, b.size);
            });
  std::set<std::string_view> names;
  uint64_t end = 0;
  for (const ZipEntry& entry : entries) {
    if (!names.insert(entry.name).second || entry.offset < end ||
        entry.offset > found->offset ||
        entry.size > found->offset - entry.offset) {
      return Damaged(file, absl::StrCat(QuotedName(entry.name),
                                        " occurs twice, overlaps with another "
                                        "entry or lies outside of the file"));
    }
    end = entry.offset + entry.size;
  }
  return entries;
}

absl::Status ReadZipEntry(const InputFile& file, const ZipEntry& entry,
                          void* to, bool check_crc32) {
  if (!entry.plain) {
    return absl::UnimplementedError(
        absl::StrCat(file.path(), ": ", QuotedName(entry.name),
                     " is compressed or encrypted, and only plain entries can "
                     "be read"));
  }
  const absl::Status read = file.ReadAt(entry.offset, to, entry.size);
  if (!read.ok() || !check_crc32) return read;
  const auto crc = static_cast<uint32_t>(
      crc32_z(0, static_cast<const Bytef*>(to), entry.size));
  if (crc == entry.crc32) return absl::OkStatus();
  return Damaged(file, absl::StrCat(QuotedName(entry.name),
                                    " is damaged: its CRC-32 is wrong"));
}

}  // namespace trainyard
