#include "trainer/checkpoint/safetensors/safetensors_header.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/io/json_reader.h"
#include "trainer/io/json_string.h"
#include "trainer/io/quoted_name.h"
#include "trainer/io/utf8.h"

namespace trainyard {
namespace {

template <class... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::DataLossError(absl::StrCat(parts...));
}

bool ReadDtype(JsonReader& json, SafetensorsEntry& entry) {
  std::string name;
  if (!json.ReadString(name)) return false;
  const std::optional<SafetensorsDtype> dtype = DtypeOfName(name);
  if (!dtype) return json.Fail("unknown dtype " + QuotedName(name));
  entry.dtype = *dtype;
  return true;
}

bool ReadShape(JsonReader& json, SafetensorsEntry& entry) {
  if (!json.BeginArray()) return false;
  while (json.NextItem()) {
    uint64_t size = 0;
    if (!json.ReadUint64(size)) return false;
    if (entry.shape.size() == kMaxSafetensorsRank) {
      return json.Fail("more than 64 dimensions");
    }
    entry.shape.push_back(size);
  }
  return json.ok();
}

bool ReadOffsets(JsonReader& json, SafetensorsEntry& entry) {
  size_t count = 0;
  if (!json.BeginArray()) return false;
  while (json.NextItem()) {
    if (count == 2) return json.Fail("more than two data_offsets");
    if (!json.ReadUint64(count == 0 ? entry.begin : entry.end)) return false;
    ++count;
  }
  return json.ok() && (count == 2 || json.Fail("less than two data_offsets"));
}

bool ReadEntry(JsonReader& json, SafetensorsEntry& entry) {
  struct Field {
    std::string_view name;
    bool (*read)(JsonReader&, SafetensorsEntry&);
    bool seen = false;
  };
  std::array<Field, 3> fields = {{{"dtype", ReadDtype},
                                  {"shape", ReadShape},
                                  {"data_offsets", ReadOffsets}}};
  std::string key;
  if (!json.BeginObject()) return false;
  while (json.NextKey(key)) {
    const auto field =
        std::find_if(fields.begin(), fields.end(),
                     [&key](const Field& some) { return some.name == key; });
    if (field == fields.end()) {
      if (!json.Skip()) return false;
    } else if (std::exchange(field->seen, true)) {
      return json.Fail(key + " comes twice");
    } else if (!field->read(json, entry)) {
      return false;
    }
  }
  for (const Field& field : fields) {
    if (!field.seen) return json.Fail("no " + std::string(field.name));
  }
  return json.ok();
}

bool ReadMetadata(JsonReader& json,
                  std::map<std::string, std::string>& metadata) {
  // Rust's reader treats null as absent.
  if (json.ReadNull()) return true;
  std::string key;
  std::string value;
  if (!json.BeginObject()) return false;
  while (json.NextKey(key)) {
    if (metadata.count(key) != 0) {
      return json.Fail("key " + QuotedName(key) + " comes twice");
    }
    if (!json.ReadString(value)) return false;
    metadata.emplace(key, value);
  }
  return json.ok();
}

}  // namespace

absl::StatusOr<uint64_t> SafetensorsHeaderLength(std::string_view first_bytes,
                                                 uint64_t file_size) {
  if (first_bytes.size() < 8 || file_size < 8) {
    return Bad("not a safetensors file: it has ", file_size,
               " bytes, less than the 8 of a header's length");
  }
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(first_bytes[i]);
  }
  if (length > kMaxSafetensorsHeader) {
    return Bad("not a safetensors file: its header would have ", length,
               " bytes, more than ", kMaxSafetensorsHeader);
  }
  if (length > file_size - 8) {
    return Bad("cut short: the header has ", length, " bytes, but only ",
               file_size - 8, " are there");
  }
  return length;
}

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json,
                                                         uint64_t data_size) {
  if (json.empty() || json[0] != '{') {
    return Bad("the header does not begin with '{'");
  }
  SafetensorsHeader header;
  JsonReader reader(json);
  std::string key;
  bool has_metadata = false;
  reader.BeginObject();
  while (reader.NextKey(key)) {
    if (key == kSafetensorsMetadata) {
      if (std::exchange(has_metadata, true)) {
        reader.Fail("__metadata__ comes twice");
      } else {
        ReadMetadata(reader, header.metadata);
      }
    } else {
      header.tensors.emplace_back().name = key;
      ReadEntry(reader, header.tensors.back());
    }
    if (!reader.ok()) {
      return Bad("header, ", QuotedName(key), ": ", reader.status().message());
    }
  }
  if (!reader.End()) return Bad("header: ", reader.status().message());
  const absl::Status layout = CheckLayout(header, data_size);
  if (!layout.ok()) return layout;
  header.data_begin = 8 + json.size();
  return header;
}

absl::StatusOr<SafetensorsHeader> ReadSafetensorsHeader(const InputFile& file) {
  const auto in_file = [&file](const absl::Status& status) {
    return Bad(file.path(), ": ", status.message());
  };
  std::string bytes(std::min<uint64_t>(file.size(), 8), '\0');
  absl::Status read = file.ReadAt(0, bytes.data(), bytes.size());
  if (!read.ok()) return read;
  const absl::StatusOr<uint64_t> length =
      SafetensorsHeaderLength(bytes, file.size());
  if (!length.ok()) return in_file(length.status());
  bytes.resize(*length);
  read = file.ReadAt(8, bytes.data(), bytes.size());
  if (!read.ok()) return read;
  absl::StatusOr<SafetensorsHeader> header =
      ParseSafetensorsHeader(bytes, file.size() - 8 - *length);
  if (!header.ok()) return in_file(header.status());
  return header;
}

absl::StatusOr<std::string> FormatSafetensorsHeader(
    const SafetensorsHeader& header) {
  absl::Status error;
  const auto quoted = [&error](std::string_view text) {
    if (ValidUtf8Prefix(text) != text.size()) {
      error = absl::InvalidArgumentError(
          absl::StrCat(QuotedName(text), " is not UTF-8"));
    }
    return JsonQuoted(text);
  };
  std::vector<std::string> items;
  if (!header.metadata.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : header.metadata) {
      pairs.push_back(absl::StrCat(quoted(key), ":", quoted(value)));
    }
    items.push_back(
        absl::StrCat("\"__metadata__\":{", absl::StrJoin(pairs, ","), "}"));
  }
  for (const SafetensorsEntry& tensor : header.tensors) {
    if (tensor.name == kSafetensorsMetadata) {
      error = absl::InvalidArgumentError("no tensor can be \"__metadata__\"");
    }
    items.push_back(absl::StrCat(
        quoted(tensor.name),
        ":{\"dtype\":", JsonQuoted(DtypeName(tensor.dtype)), ",\"shape\":[",
        absl::StrJoin(tensor.shape, ","), "],\"data_offsets\":[", tensor.begin,
        ",", tensor.end, "]}"));
  }
  if (!error.ok()) return error;
  std::string json = absl::StrCat("{", absl::StrJoin(items, ","), "}");
  json.resize((json.size() + 7) / 8 * 8, ' ');
  if (json.size() > kMaxSafetensorsHeader) {
    return absl::InvalidArgumentError(
        absl::StrCat("the header would have ", json.size(),
                     " bytes, more than ", kMaxSafetensorsHeader));
  }
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; ++i) {
    length[i] = static_cast<char>(json.size() >> (8 * i));
  }
  return length + json;
}

}  // namespace trainyard
