// Measures saving and loading of a model with AdamW's state by the store, by
// torch::save, and the limits of the machine (memcpy, write + fsync, read).
// Prints lines "name seconds"; compare.py runs it in turns.
//
//   save_and_load --json=trainyard
//
// measures only how long training waits and when the state is saved, and prints
// a line for tools/bench/peers.

#include <ATen/ops/empty.h>
#include <ATen/ops/rand.h>
#include <absl/flags/flag.h>
#include <absl/flags/parse.h>
#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <torch/serialize.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "trainer/checkpoint/async_writer.h"
#include "trainer/checkpoint/store.h"
#include "trainer/main.h"
#include "trainer/or_throw.h"

ABSL_FLAG(std::string, dir, "/tmp/trainyard-bench",
          "Folder to write to; it is emptied first.");
ABSL_FLAG(int64_t, mebibytes, 512, "Size of model and optimizer state.");
ABSL_FLAG(
    std::string, json, "",
    "trainyard (in the background) or torch::save; empty: all, in words.");

namespace trainyard {
namespace {

constexpr int kTensors = 48;  // of each kind

double SecondsOf(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

void Time(const char* name, const std::function<void()>& work) {
  std::puts(absl::StrFormat("%s %.6f", name, SecondsOf(work)).c_str());
}

Checkpoint MakeState() {
  const int64_t elements =
      absl::GetFlag(FLAGS_mebibytes) * (1 << 20) / 4 / 3 / kTensors;
  Checkpoint checkpoint{.step = 1};
  for (int i = 0; i < kTensors; ++i) {
    const std::string name = absl::StrFormat("layer%02d.weight", i);
    checkpoint.tensors["model"].push_back({name, at::rand({elements})});
    for (const char* moment : {"/exp_avg", "/exp_avg_sq"}) {
      checkpoint.tensors["optimizer"].push_back(
          {name + moment, at::rand({elements})});
    }
  }
  return checkpoint;
}

std::vector<at::Tensor> Flat(const Checkpoint& checkpoint) {
  std::vector<at::Tensor> tensors;
  for (const auto& [group, items] : checkpoint.tensors) {
    for (const NamedTensor& item : items) tensors.push_back(item.tensor);
  }
  return tensors;
}

void Check(bool fine) {
  if (!fine) throw std::runtime_error("a system call failed");
}

enum class Room { kAsItGrows, kMadeAtOnce };

void RawWrite(const std::string& path, const std::vector<at::Tensor>& tensors,
              Room room = Room::kAsItGrows) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  Check(file >= 0);
  if (room == Room::kMadeAtOnce) {
    size_t size = 0;
    for (const at::Tensor& tensor : tensors) size += tensor.nbytes();
    Check(fallocate(file, 0, 0, static_cast<off_t>(size)) == 0);
  }
  for (const at::Tensor& tensor : tensors) {
    const auto size = static_cast<ssize_t>(tensor.nbytes());
    Check(write(file, tensor.const_data_ptr(), tensor.nbytes()) == size);
  }
  Check(fsync(file) == 0);
  Check(close(file) == 0);
}

// Reads into new memory, like a program that has just started.
void PlainRead(const std::string& path,
               const std::vector<at::Tensor>& tensors) {
  const int file = open(path.c_str(), O_RDONLY);
  Check(file >= 0);
  std::vector<at::Tensor> read_back;
  for (const at::Tensor& tensor : tensors) {
    read_back.push_back(at::empty(tensor.sizes()));
    const auto size = static_cast<ssize_t>(tensor.nbytes());
    Check(read(file, read_back.back().mutable_data_ptr(), tensor.nbytes()) ==
          size);
  }
  close(file);
}

// Saves several times; the first one allocates. `save` returns when training
// may go on, `wait` when the state is on the disk.
void PrintSaves(const std::function<void(int64_t)>& save,
                const std::function<void()>& wait) {
  constexpr int64_t kSaves = 5;
  std::vector<double> blocked, saved;
  for (int64_t i = 0; i <= kSaves; ++i) {
    sync();
    const double first = SecondsOf([&] { save(i); });
    const double rest = SecondsOf(wait);
    if (i == 0) continue;
    blocked.push_back(1e3 * first);
    saved.push_back(1e3 * (first + rest));
  }
  std::ranges::sort(blocked);
  std::ranges::sort(saved);
  absl::PrintF("@@{\"blocked_ms\": %.3f, \"saved_ms\": %.3f}\n",
               blocked[kSaves / 2], saved[kSaves / 2]);
}

void RunOne(const std::string& way, const std::string& folder,
            Checkpoint checkpoint) {
  if (way == "torch::save") {
    const std::vector<at::Tensor> tensors = Flat(checkpoint);
    const std::string path = folder + "/torch.pt";
    PrintSaves([&](int64_t) { torch::save(tensors, path); },
               [&] {
                 const int file = open(path.c_str(), O_RDONLY);
                 Check(file >= 0 && fsync(file) == 0 && close(file) == 0);
                 std::filesystem::remove(path);
               });
    return;
  }
  if (way != "trainyard") {
    throw std::invalid_argument("--json=" + way +
                                ": must be trainyard or torch::save");
  }
  const auto store = OrThrow(CheckpointStore::Open(
      {.directory = folder + "/run", .keep = {.last = 1}}));
  AsyncCheckpointWriter writer(*store);
  PrintSaves(
      [&](int64_t i) {
        checkpoint.step = i + 1;
        OrThrow(writer.Save(checkpoint));
      },
      [&] { OrThrow(writer.Wait()); });
}

int Run() {
  const std::string folder = absl::GetFlag(FLAGS_dir);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Checkpoint checkpoint = MakeState();
  if (const std::string way = absl::GetFlag(FLAGS_json); !way.empty()) {
    RunOne(way, folder, checkpoint);
    std::filesystem::remove_all(folder);
    return 0;
  }
  const std::vector<at::Tensor> tensors = Flat(checkpoint);

  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : tensors) copies.push_back(tensor.clone());
  const auto store = OrThrow(CheckpointStore::Open(
      {.directory = folder + "/run", .keep = {.last = 1}}));
  {
    AsyncCheckpointWriter writer(*store);
    OrThrow(writer.Save(checkpoint));  // allocates the buffers
    OrThrow(writer.Wait());
    ++checkpoint.step;
    sync();
    // The cost of a copy at this moment, from the same memory.
    Time("memcpy", [&] {
      for (size_t i = 0; i < tensors.size(); ++i) {
        std::memcpy(copies[i].mutable_data_ptr(), tensors[i].const_data_ptr(),
                    tensors[i].nbytes());
      }
    });
    Time("async_blocked", [&] { OrThrow(writer.Save(checkpoint)); });
    OrThrow(writer.Wait());
  }
  copies.clear();
  sync();
  Time("raw_write_fsync", [&] { RawWrite(folder + "/raw", tensors); });
  std::filesystem::remove(folder + "/raw");
  sync();
  Time("raw_fallocate_write_fsync",
       [&] { RawWrite(folder + "/raw", tensors, Room::kMadeAtOnce); });
  std::filesystem::remove(folder + "/raw");
  sync();
  ++checkpoint.step;
  Time("store_save", [&] { OrThrow(store->Save(checkpoint)); });
  RawWrite(folder + "/raw", tensors);
  Time("plain_read", [&] { PlainRead(folder + "/raw", tensors); });
  Time("store_load", [&] { OrThrow(store->Latest()); });
  std::filesystem::remove(folder + "/raw");
  sync();
  Time("torch::save", [&] { torch::save(tensors, folder + "/torch.pt"); });
  Time("torch::load", [&] {
    std::vector<at::Tensor> loaded;
    torch::load(loaded, folder + "/torch.pt");
  });
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return trainyard::Main(trainyard::Run);
}
