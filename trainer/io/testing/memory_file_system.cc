#include "trainer/io/testing/memory_file_system.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace trainyard {

struct MemoryFileSystem::Node {
  // Of a folder.
  bool is_folder = false;
  std::map<std::string, NodePointer> names;
  std::map<std::string, NodePointer> durable_names;
  // Of a file.
  std::string data;
  std::string durable_data;

  FileInfo Info() const {
    return {.kind = is_folder ? FileInfo::Kind::kFolder : FileInfo::Kind::kFile,
            .size = data.size()};
  }

  void CutPower() {
    names = durable_names;
    data = durable_data;
    for (const auto& [name, node] : names) node->CutPower();
  }
};

MemoryFileSystem::MemoryFileSystem() : root_(std::make_shared<Node>()) {
  root_->is_folder = true;
}

MemoryFileSystem::~MemoryFileSystem() = default;

void MemoryFileSystem::CutPower() {
  open_.clear();
  root_->CutPower();
}

MemoryFileSystem::NodePointer MemoryFileSystem::Find(
    const std::string& path) const {
  NodePointer node = root_;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(at, end - at);
    at = end + 1;
    if (name.empty() || name == ".") continue;
    const auto found = node->names.find(name);
    if (found == node->names.end()) return nullptr;
    node = found->second;
  }
  return node;
}

MemoryFileSystem::Place MemoryFileSystem::PlaceOf(
    const std::string& path) const {
  const size_t slash = path.rfind('/');
  Place place;
  place.name = path.substr(slash == std::string::npos ? 0 : slash + 1);
  place.folder =
      slash == std::string::npos ? root_ : Find(path.substr(0, slash));
  if (place.folder != nullptr && !place.folder->is_folder) {
    place.folder = nullptr;
  }
  return place;
}

void MemoryFileSystem::Put(const std::string& path, std::string content) {
  for (size_t at = path.find('/', 1); at != std::string::npos;
       at = path.find('/', at + 1)) {
    MakeFolder(path.substr(0, at));
    const Place place = PlaceOf(path.substr(0, at));
    place.folder->durable_names = place.folder->names;
  }
  const Place place = PlaceOf(path);
  auto node = std::make_shared<Node>();
  node->data = content;
  node->durable_data = std::move(content);
  place.folder->names[place.name] = node;
  place.folder->durable_names[place.name] = node;
}

int MemoryFileSystem::Open(const std::string& path, int flags) {
  NodePointer node = Find(path);
  if (node != nullptr && (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) {
    return -EEXIST;
  }
  if (node == nullptr) {
    const Place place = PlaceOf(path);
    if ((flags & O_CREAT) == 0 || place.folder == nullptr) return -ENOENT;
    node = std::make_shared<Node>();
    place.folder->names[place.name] = node;
  }
  if ((flags & O_DIRECTORY) != 0 && !node->is_folder) return -ENOTDIR;
  open_[next_] = std::move(node);
  return next_++;
}

int64_t MemoryFileSystem::Write(int file, const void* data, size_t size) {
  if (!open_.contains(file)) return -EBADF;
  open_[file]->data.append(static_cast<const char*>(data), size);
  return static_cast<int64_t>(size);
}

int64_t MemoryFileSystem::ReadAt(int file, void* to, size_t size,
                                 uint64_t offset) {
  if (!open_.contains(file)) return -EBADF;
  const std::string& data = open_[file]->data;
  if (open_[file]->is_folder) return -EISDIR;
  if (offset >= data.size()) return 0;
  size = std::min<uint64_t>(size, data.size() - offset);
  std::memcpy(to, data.data() + offset, size);
  return static_cast<int64_t>(size);
}

int MemoryFileSystem::Truncate(int file, uint64_t size) {
  if (!open_.contains(file)) return -EBADF;
  open_[file]->data.resize(size);
  return 0;
}

int MemoryFileSystem::Sync(int file) {
  if (!open_.contains(file)) return -EBADF;
  Node& node = *open_[file];
  node.durable_names = node.names;
  node.durable_data = node.data;
  return 0;
}

int MemoryFileSystem::Close(int file) {
  return open_.erase(file) == 1 ? 0 : -EBADF;
}

int MemoryFileSystem::StatOpen(int file, FileInfo& info) {
  if (!open_.contains(file)) return -EBADF;
  info = open_[file]->Info();
  return 0;
}

int MemoryFileSystem::Stat(const std::string& path, FileInfo& info) {
  const NodePointer node = Find(path);
  if (node == nullptr) return -ENOENT;
  info = node->Info();
  return 0;
}

int MemoryFileSystem::List(const std::string& path,
                           std::vector<std::string>& names) {
  const NodePointer node = Find(path);
  if (node == nullptr) return -ENOENT;
  if (!node->is_folder) return -ENOTDIR;
  names.clear();
  for (const auto& [name, child] : node->names) names.push_back(name);
  return 0;
}

int MemoryFileSystem::FreeBytes(const std::string& path, uint64_t& bytes) {
  bytes = uint64_t{1} << 40;
  return Find(path) == nullptr ? -ENOENT : 0;
}

int MemoryFileSystem::MakeFolder(const std::string& path) {
  const Place place = PlaceOf(path);
  if (place.folder == nullptr) return -ENOENT;
  auto node = std::make_shared<Node>();
  node->is_folder = true;
  return place.folder->names.emplace(place.name, node).second ? 0 : -EEXIST;
}

int MemoryFileSystem::Remove(const std::string& path, bool folder) {
  const NodePointer node = Find(path);
  if (node == nullptr) return -ENOENT;
  if (node->is_folder != folder) return folder ? -ENOTDIR : -EISDIR;
  if (!node->names.empty()) return -ENOTEMPTY;
  const Place place = PlaceOf(path);
  place.folder->names.erase(place.name);
  return 0;
}

int MemoryFileSystem::RemoveFile(const std::string& path) {
  return Remove(path, false);
}

int MemoryFileSystem::RemoveFolder(const std::string& path) {
  return Remove(path, true);
}

int MemoryFileSystem::Rename(const std::string& from, const std::string& to) {
  const NodePointer node = Find(from);
  const Place target = PlaceOf(to);
  if (node == nullptr || target.folder == nullptr) return -ENOENT;
  const Place source = PlaceOf(from);
  source.folder->names.erase(source.name);
  target.folder->names[target.name] = node;
  return 0;
}

int MemoryFileSystem::RenameNew(const std::string& from,
                                const std::string& to) {
  return Find(to) != nullptr ? -EEXIST : Rename(from, to);
}

int MemoryFileSystem::Exchange(const std::string& one,
                               const std::string& other) {
  const Place first = PlaceOf(one);
  const Place second = PlaceOf(other);
  if (Find(one) == nullptr || Find(other) == nullptr) return -ENOENT;
  std::swap(first.folder->names[first.name], second.folder->names[second.name]);
  return 0;
}

}  // namespace trainyard
