#include "trainer/checkpoint/pt/pt_layout.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "trainer/checkpoint/pt/pickle_tree.h"
#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

using Kind = PickleNode::Kind;

// Bound the time and memory for files from anybody.
constexpr size_t kMaxDepth = 100;
constexpr size_t kMaxVisits = 1'000'000;
constexpr size_t kMaxNameBytes = size_t{64} << 20;
// What expanded tensors may need beyond the bytes in the file.
constexpr uint64_t kMaxRepeatedBytes = uint64_t{1} << 30;

constexpr std::string_view kModelKeys[] = {"state_dict", "model_state_dict",
                                           "model"};

std::string Joined(const std::string& path, std::string_view key) {
  return absl::StrCat(path, path.empty() ? "" : ".", std::string(key));
}

std::string ValueText(const PickleNode& node) {
  switch (node.kind) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return node.integer != 0 ? "True" : "False";
    case Kind::kInt:
      return absl::StrCat(node.integer);
    case Kind::kFloat:
      return absl::StrFormat("%.17g", node.number);
    default:
      return node.text;
  }
}

// Names every tensor and value of a tree by its path.
class Walk {
 public:
  Walk(const PickleTree& tree, PtLayout& layout)
      : tree_(tree), layout_(layout) {}

  absl::Status Run() {
    absl::Status status = Add("", tree_.root, 0);
    while (status.ok() && !open_.empty()) {
      const Place place = std::move(open_.back());
      open_.pop_back();
      status = Visit(place);
    }
    return status;
  }

 private:
  struct Place {
    std::string path;
    uint32_t node;
    size_t depth;
  };

  absl::Status Add(std::string path, uint32_t node, size_t depth) {
    name_bytes_ += path.size();
    if (++visits_ > kMaxVisits || name_bytes_ > kMaxNameBytes ||
        depth > kMaxDepth) {
      return absl::DataLossError(
          "has too many values, or nests them too deeply");
    }
    open_.push_back({std::move(path), node, depth});
    return absl::OkStatus();
  }

  absl::Status Visit(const Place& place) {
    const PickleNode& node = tree_.nodes[place.node];
    switch (node.kind) {
      case Kind::kDict:
        return VisitDict(place, node);
      case Kind::kList:
      case Kind::kTuple:
        return VisitItems(place, node);
      case Kind::kCall:
        return VisitCall(place, node);
      case Kind::kPersistent:
        return absl::UnimplementedError(absl::StrCat(
            QuotedName(place.path), " is a storage, not a tensor"));
      default:
        return AddValue(place.path, ValueText(node));
    }
  }

  absl::Status VisitDict(const Place& place, const PickleNode& dict) {
    for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      const PickleNode& key = tree_.nodes[dict.items[i]];
      if (key.kind != Kind::kText && key.kind != Kind::kInt) {
        return absl::UnimplementedError(
            absl::StrCat(QuotedName(place.path), " has a key that is ",
                         std::string(KindName(key.kind))));
      }
      const absl::Status added = Add(Joined(place.path, ValueText(key)),
                                     dict.items[i + 1], place.depth + 1);
      if (!added.ok()) return added;
    }
    return absl::OkStatus();
  }

  absl::Status VisitItems(const Place& place, const PickleNode& list) {
    for (size_t i = 0; i < list.items.size(); ++i) {
      const absl::Status added = Add(Joined(place.path, absl::StrCat(i)),
                                     list.items[i], place.depth + 1);
      if (!added.ok()) return added;
    }
    return absl::OkStatus();
  }

  absl::Status VisitCall(const Place& place, const PickleNode& call) {
    const std::optional<uint32_t> description = TensorCall(tree_, place.node);
    const std::string name = QuotedName(place.path);
    if (!description) {
      const PickleNode& arguments = tree_.nodes[call.items[1]];
      if (tree_.nodes[call.items[0]].text == "torch.Size" &&
          arguments.items.size() == 1) {
        return Add(place.path, arguments.items[0], place.depth + 1);
      }
      return absl::UnimplementedError(
          absl::StrCat(name, " is neither a tensor nor a value: ",
                       QuotedName(tree_.nodes[call.items[0]].text)));
    }
    absl::StatusOr<PtTensor> tensor = ReadPtTensor(tree_, *description);
    if (!tensor.ok()) {
      return absl::Status(
          tensor.status().code(),
          absl::StrCat("tensor ", name, " ", tensor.status().message()));
    }
    const uint64_t bytes = PtTensorBytes(*tensor);
    if (bytes > tensor->storage_bytes) {
      repeated_bytes_ += std::min(bytes, kMaxRepeatedBytes + 1);
      if (repeated_bytes_ > kMaxRepeatedBytes) {
        return absl::DataLossError(
            absl::StrCat("tensor ", name, " repeats its storage too often"));
      }
    }
    tensor->name = place.path;
    if (!names_.insert(place.path).second) return Twice(place.path);
    layout_.tensors.push_back(*std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status AddValue(const std::string& path, std::string text) {
    name_bytes_ += text.size();
    if (name_bytes_ > kMaxNameBytes) {
      return absl::DataLossError("has too many values");
    }
    if (!names_.insert(path).second) return Twice(path);
    layout_.values[path] = std::move(text);
    return absl::OkStatus();
  }

  static absl::Status Twice(const std::string& path) {
    return absl::DataLossError(
        absl::StrCat("has two values named ", QuotedName(path)));
  }

  const PickleTree& tree_;
  PtLayout& layout_;
  std::vector<Place> open_;
  std::set<std::string> names_;
  size_t visits_ = 0;
  size_t name_bytes_ = 0;
  uint64_t repeated_bytes_ = 0;
};

// The first part of a name: "model" of "model.w".
std::string_view FirstKey(std::string_view name) {
  return name.substr(0, name.find('.'));
}

std::string ModelKey(const PtLayout& layout) {
  std::set<std::string_view> keys;
  for (const PtTensor& tensor : layout.tensors) {
    if (FirstKey(tensor.name).size() == tensor.name.size()) return "";
    keys.insert(FirstKey(tensor.name));
  }
  std::string found;
  for (const std::string_view key : kModelKeys) {
    if (!keys.contains(key)) continue;
    if (!found.empty()) return "";
    found = std::string(key);
  }
  return found;
}

// Removes "key." from the front of a name. Returns whether it was there.
bool TakeKey(const std::string& key, std::string& name) {
  if (name.size() <= key.size() || name[key.size()] != '.' ||
      name.compare(0, key.size(), key) != 0) {
    return false;
  }
  name.erase(0, key.size() + 1);
  return true;
}

absl::Status Select(const PtOptions& options, PtLayout& layout) {
  layout.key = options.key ? *options.key : ModelKey(layout);
  if (layout.key.empty()) return absl::OkStatus();
  std::set<std::string> keys;
  for (const PtTensor& tensor : layout.tensors) {
    keys.insert(QuotedName(FirstKey(tensor.name)));
  }
  std::erase_if(layout.tensors, [&](PtTensor& tensor) {
    return !TakeKey(layout.key, tensor.name);
  });
  std::map<std::string, std::string> values;
  for (auto& [name, text] : layout.values) {
    std::string rest = name;
    if (TakeKey(layout.key, rest)) values[rest] = std::move(text);
  }
  layout.values = std::move(values);
  if (!layout.tensors.empty() || !layout.values.empty()) {
    return absl::OkStatus();
  }
  return absl::NotFoundError(
      absl::StrCat("has nothing under the key ", QuotedName(layout.key),
                   "; its tensors are under ", absl::StrJoin(keys, ", ")));
}

using Entries = std::map<std::string, ZipEntry>;

// Finds the bytes of every storage that a tensor needs.
absl::Status FindStorages(const Entries& entries, PtLayout& layout) {
  for (const PtTensor& tensor : layout.tensors) {
    const auto entry = entries.find(absl::StrCat("data/", tensor.storage));
    if (entry == entries.end()) {
      return absl::DataLossError(
          absl::StrCat("tensor ", QuotedName(tensor.name), " has no bytes"));
    }
    if (entry->second.size != tensor.storage_bytes) {
      return absl::DataLossError(
          absl::StrCat("tensor ", QuotedName(tensor.name),
                       " is in a storage of ", tensor.storage_bytes,
                       " bytes, and the file has ", entry->second.size));
    }
    layout.storages.emplace(tensor.storage, entry->second);
  }
  return absl::OkStatus();
}

// All entries are in one folder, whose name is of no importance.
absl::StatusOr<Entries> EntriesOf(std::vector<ZipEntry> all) {
  Entries entries;
  std::string folder;
  for (ZipEntry& entry : all) {
    const size_t slash = entry.name.find('/');
    if (slash == std::string::npos) continue;
    if (folder.empty()) folder = entry.name.substr(0, slash + 1);
    if (entry.name.compare(0, folder.size(), folder) != 0) {
      return absl::DataLossError(
          "is no file of torch.save: its entries are in "
          "several folders");
    }
    entries.emplace(entry.name.substr(slash + 1), std::move(entry));
  }
  if (entries.contains("constants.pkl")) {
    return absl::UnimplementedError(
        "is a TorchScript archive, which ScriptModel loads");
  }
  if (!entries.contains("data.pkl")) {
    return absl::DataLossError("is no file of torch.save: data.pkl is missing");
  }
  return entries;
}

absl::StatusOr<PtLayout> ReadEntries(const InputFile& file,
                                     const Entries& entries,
                                     const PtOptions& options) {
  const auto order = entries.find("byteorder");
  if (order != entries.end()) {
    std::string text(std::min<uint64_t>(order->second.size, 16), '\0');
    const absl::Status read =
        file.ReadAt(order->second.offset, text.data(), text.size());
    if (!read.ok()) return read;
    if (text != "little") {
      return absl::UnimplementedError(
          "was written on a machine of another byte order");
    }
  }
  const ZipEntry& data = entries.at("data.pkl");
  if (data.size > kMaxPickle) {
    return absl::DataLossError(absl::StrCat("data.pkl has ", data.size,
                                            " bytes, more than ", kMaxPickle));
  }
  std::string pickle(data.size, '\0');
  const absl::Status read =
      ReadZipEntry(file, data, pickle.data(), options.check_crc32);
  if (!read.ok()) return read;
  const absl::StatusOr<PickleTree> tree = ParsePickle(pickle, PtGlobals());
  if (!tree.ok()) {
    return absl::Status(tree.status().code(),
                        absl::StrCat("data.pkl, ", tree.status().message()));
  }
  PtLayout layout;
  absl::Status status = Walk(*tree, layout).Run();
  if (status.ok()) status = Select(options, layout);
  if (status.ok()) status = FindStorages(entries, layout);
  if (!status.ok()) return status;
  std::sort(
      layout.tensors.begin(), layout.tensors.end(),
      [](const PtTensor& a, const PtTensor& b) { return a.name < b.name; });
  return layout;
}

}  // namespace

absl::StatusOr<PtLayout> ReadPtLayout(const InputFile& file,
                                      const PtOptions& options) {
  absl::StatusOr<PtLayout> layout = [&]() -> absl::StatusOr<PtLayout> {
    char start[4] = {};
    if (file.size() >= sizeof(start)) {
      const absl::Status read = file.ReadAt(0, start, sizeof(start));
      if (!read.ok()) return read;
    }
    // The first bytes of a pickle of protocol 2: its magic number.
    if (std::string_view(start, sizeof(start)) == "\x80\x02\x8a\x0a") {
      return absl::UnimplementedError(
          "was written by PyTorch before 1.6 or without zip; load it in Python "
          "and save it again");
    }
    absl::StatusOr<std::vector<ZipEntry>> all = ReadZipDirectory(file);
    if (!all.ok()) return all.status();
    const absl::StatusOr<Entries> entries = EntriesOf(*std::move(all));
    if (!entries.ok()) return entries.status();
    return ReadEntries(file, *entries, options);
  }();
  if (layout.ok()) return layout;
  const std::string message(layout.status().message());
  if (message.rfind(file.path(), 0) == 0) return layout;
  return absl::Status(layout.status().code(),
                      absl::StrCat(file.path(), ": ", message));
}

}  // namespace trainyard
