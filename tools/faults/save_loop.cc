// Saves checkpoints continuously, with deterministic content and without
// training; the fault scripts of this folder kill it. Resumes from --run_dir.
// Prints "saved N" after each acknowledged save, and "state_crc32c X" at the
// end.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <absl/flags/flag.h>
#include <absl/flags/parse.h>
#include <absl/strings/str_format.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "trainer/checkpoint/async_writer.h"
#include "trainer/checkpoint/parts/rng_state.h"
#include "trainer/checkpoint/state_crc32c.h"
#include "trainer/checkpoint/store.h"
#include "trainer/main.h"
#include "trainer/model/tensor_match.h"
#include "trainer/or_throw.h"

ABSL_FLAG(std::string, run_dir, "", "Folder of the checkpoints.");
ABSL_FLAG(int64_t, steps, 20, "Total number of steps.");
ABSL_FLAG(int64_t, checkpoint_every, 1, "Steps between two saves.");
ABSL_FLAG(int64_t, elements, 100'000, "Size of each of four tensors.");
ABSL_FLAG(int, keep_last, 2, "Number of checkpoints to keep.");
ABSL_FLAG(bool, background, false, "Save asynchronously.");
ABSL_FLAG(bool, go_on, false, "Report a failed save and continue.");

namespace trainyard {
namespace {

class Loop {
 public:
  Loop() {
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    generator.set_current_seed(1);
    for (const char* name : {"a", "b", "c", "d"}) {
      tensors_.push_back(
          {name, at::zeros({absl::GetFlag(FLAGS_elements)}, at::kFloat)});
    }
  }

  void Step() {
    for (const NamedTensor& item : tensors_) {
      item.tensor.mul_(0.5).add_(at::rand(item.tensor.sizes()));
    }
    ++step_;
  }

  Checkpoint Save() const {
    Checkpoint checkpoint{.step = step_};
    checkpoint.tensors["model"] = tensors_;
    checkpoint.parts.emplace("rng", SaveRngState());
    return checkpoint;
  }

  void Load(const Checkpoint& checkpoint) {
    OrThrow(LoadTensors(checkpoint.tensors.at("model"), tensors_));
    LoadRngState(checkpoint.parts.at("rng"));
    step_ = checkpoint.step;
  }

  int64_t step() const { return step_; }
  uint32_t Crc() const { return StateCrc32c(tensors_); }

 private:
  std::vector<NamedTensor> tensors_;
  int64_t step_ = 0;
};

// Flushed immediately: the reader may kill this process at any moment.
void Say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

void Acknowledge(const absl::Status& saved, int64_t step) {
  if (saved.ok()) {
    Say(absl::StrFormat("saved %d", step));
  } else if (absl::GetFlag(FLAGS_go_on)) {
    Say(absl::StrFormat("failed %d: %s", step, saved.ToString()));
  } else {
    OrThrow(saved);
  }
}

int Run() {
  auto store = OrThrow(CheckpointStore::Open(
      {.directory = absl::GetFlag(FLAGS_run_dir),
       .keep = {.last = absl::GetFlag(FLAGS_keep_last)}}));
  Loop loop;
  absl::StatusOr<Restored> latest = store->Latest();
  if (!absl::IsNotFound(latest.status())) {
    const Restored restored = OrThrow(std::move(latest));
    for (const std::string& warning : restored.warnings) {
      Say("warning: " + warning);
    }
    loop.Load(restored.checkpoint);
    Say(absl::StrFormat("resumed %d", loop.step()));
  }
  std::unique_ptr<AsyncCheckpointWriter> writer;
  if (absl::GetFlag(FLAGS_background)) {
    writer = std::make_unique<AsyncCheckpointWriter>(*store);
  }
  int64_t last = 0;  // being written
  while (loop.step() < absl::GetFlag(FLAGS_steps)) {
    loop.Step();
    if (loop.step() % absl::GetFlag(FLAGS_checkpoint_every) != 0) continue;
    if (writer == nullptr) {
      Acknowledge(store->Save(loop.Save()), loop.step());
      continue;
    }
    const absl::Status before = writer->Save(loop.Save());
    if (last != 0) Acknowledge(before, last);
    last = loop.step();
  }
  if (last != 0) Acknowledge(writer->Wait(), last);
  Say(absl::StrFormat("state_crc32c %08x", loop.Crc()));
  return 0;
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return trainyard::Main(trainyard::Run);
}
