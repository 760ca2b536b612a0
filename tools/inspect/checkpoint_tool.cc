#include "tools/inspect/checkpoint_tool.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>

#include "tools/cli/settings.h"
#include "tools/inspect/checkpoint_report.h"
#include "trainer/checkpoint/folder/run_folder.h"
#include "trainer/checkpoint/format/step_reader.h"
#include "trainer/checkpoint/pt/weights_file.h"
#include "trainer/checkpoint/safetensors/sharded_safetensors.h"
#include "trainer/checkpoint/step_share.h"
#include "trainer/checkpoint/store.h"
#include "trainer/or_throw.h"

namespace trainyard {
namespace {

constexpr char kUsage[] =
    R"(Inspects checkpoints. RUN is the folder of a run. CKPT is the folder of one
checkpoint (run/step-0000000100) or of a run, which stands for its newest one
that is not damaged. Slices that ranks have saved are joined to whole tensors.

  checkpoint list RUN               prints a table of the checkpoints
  checkpoint show CKPT              prints counters, settings, parts, tensors
  checkpoint verify RUN|CKPT        reads every byte; exit code 1 if damaged
  checkpoint diff CKPT CKPT         prints differences; exit code 1 if any
  checkpoint export CKPT FOLDER     writes tensors as plain safetensors
      --group=model                 the group of tensors
      --max_shard_bytes=5000000000  split into files of at most this size
  checkpoint import FILES RUN       makes step 0 of a new run from a safetensors
                                    file, an index, a folder with either, or a
                                    .pt file of PyTorch
      --group=model                 the group of tensors
      --key=state_dict              the key of the tensors in the .pt file
)";

// Invalid arguments: exit code 2.
class Usage : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

struct Command {
  std::vector<std::string> paths;
  Settings settings;
  std::ostream& out;
  std::ostream& err;
};

bool IsStep(const std::string& path) {
  return std::filesystem::exists(path + "/manifest.pb");
}

RunFolder::Listing ListOf(const std::string& path) {
  if (!std::filesystem::is_directory(path)) {
    throw std::runtime_error(path + ": there is no such folder");
  }
  return OrThrow(OrThrow(RunFolder::Open(path, Access::kRead)).List());
}

// Of a run, the newest checkpoint that is not damaged; warns of the others.
Checkpoint LoadOne(const std::string& path, std::ostream& err) {
  if (!IsStep(path)) {
    Restored latest =
        OrThrow(OrThrow(CheckpointStore::Open(
                            {.directory = path, .access = Access::kRead}))
                    ->Latest());
    for (const std::string& warning : latest.warnings) {
      err << "checkpoint: " << warning << "\n";
    }
    return std::move(latest.checkpoint);
  }
  return OrThrow(ReadStep(OrThrow(StepReader::Open(path)), /*rank=*/0));
}

int List(Command& command) {
  const RunFolder::Listing listing = ListOf(command.paths[0]);
  PrintSteps(listing.steps, command.out);
  for (const auto& [path, status] : listing.bad) {
    command.out << "DAMAGED " << status.message() << "\n";
  }
  return listing.bad.empty() ? 0 : 1;
}

int Show(Command& command) {
  PrintCheckpoint(LoadOne(command.paths[0], command.err), command.out);
  return 0;
}

int Verify(Command& command) {
  std::map<std::string, absl::Status> results;
  if (IsStep(command.paths[0])) {
    results[command.paths[0]] = absl::OkStatus();
  } else {
    const RunFolder::Listing listing = ListOf(command.paths[0]);
    results = listing.bad;
    for (const StepInfo& step : listing.steps) results[step.path];
  }
  int code = 0;
  for (auto& [path, status] : results) {
    if (status.ok()) {
      const absl::StatusOr<StepReader> step = StepReader::Open(path);
      status = step.ok() ? step->VerifyAll() : step.status();
    }
    if (status.ok()) {
      command.out << "sound   " << path << "\n";
    } else {
      command.out << "DAMAGED " << status.message() << "\n";
      code = 1;
    }
  }
  command.out << results.size() << " verified\n";
  return code;
}

int Diff(Command& command) {
  const bool same =
      PrintDifferences(LoadOne(command.paths[0], command.err),
                       LoadOne(command.paths[1], command.err), command.out);
  if (same) command.out << "equal, bit for bit\n";
  return same ? 0 : 1;
}

int Export(Command& command) {
  const std::string group = command.settings.Text("group", "model");
  const int64_t most =
      command.settings.Integer("max_shard_bytes", 5'000'000'000);
  if (most < 1) throw Usage("--max_shard_bytes must be at least 1");
  const Checkpoint checkpoint = LoadOne(command.paths[0], command.err);
  const auto tensors = checkpoint.tensors.find(group);
  if (tensors == checkpoint.tensors.end()) {
    throw Usage("the checkpoint has no group of tensors '" + group + "'");
  }
  std::filesystem::create_directories(command.paths[1]);
  OrThrow(WriteShardedSafetensors(
      command.paths[1], tensors->second,
      {.group = group, .max_shard_bytes = static_cast<uint64_t>(most)}));
  command.out << "wrote " << tensors->second.size() << " tensors to "
              << command.paths[1] << "\n";
  return 0;
}

int Import(Command& command) {
  Checkpoint checkpoint;
  std::vector<NamedTensor>& tensors =
      checkpoint.tensors[command.settings.Text("group", "model")];
  PtOptions options;
  if (command.settings.Has("key")) {
    options.key = command.settings.Text("key", "");
  }
  tensors = OrThrow(ReadWeights(command.paths[0], options));
  const auto store =
      OrThrow(CheckpointStore::Open({.directory = command.paths[1]}));
  if (!OrThrow(store->List()).empty()) {
    throw Usage(command.paths[1] + " has checkpoints already");
  }
  OrThrow(store->Save(checkpoint));
  command.out << "imported " << tensors.size() << " tensors into "
              << command.paths[1] << "\n";
  return 0;
}

struct Action {
  size_t paths;
  std::function<int(Command&)> run;
};

const std::map<std::string, Action>& Actions() {
  static const auto* const actions = new std::map<std::string, Action>{
      {"list", {1, List}}, {"show", {1, Show}},     {"verify", {1, Verify}},
      {"diff", {2, Diff}}, {"export", {2, Export}}, {"import", {2, Import}},
  };
  return *actions;
}

int RunTool(const std::vector<std::string>& arguments, std::ostream& out,
            std::ostream& err) {
  std::vector<std::string> words;
  std::vector<std::string> flags;
  for (const std::string& argument : arguments) {
    (argument.substr(0, 2) == "--" ? flags : words).push_back(argument);
  }
  Settings settings(flags);
  if (settings.Flag("help")) {
    out << kUsage;
    return 0;
  }
  if (words.empty()) throw Usage("no command is given; see --help");
  const auto action = Actions().find(words[0]);
  if (action == Actions().end()) {
    throw Usage("'" + words[0] + "' is not a command; see --help");
  }
  words.erase(words.begin());
  if (words.size() != action->second.paths) {
    throw Usage(absl::StrCat(action->first, " takes ", action->second.paths,
                             " paths, not ", words.size()));
  }
  Command command{words, settings, out, err};
  // Rejects unknown settings before the command does anything.
  if (action->first == "export") command.settings.Has("max_shard_bytes");
  if (action->first == "import") command.settings.Has("key");
  if (action->first == "export" || action->first == "import") {
    command.settings.Has("group");
  }
  command.settings.CheckAllUsed(action->first);
  return action->second.run(command);
}

}  // namespace

int RunCheckpointTool(const std::vector<std::string>& arguments,
                      std::ostream& out, std::ostream& err) {
  try {
    return RunTool(arguments, out, err);
  } catch (const std::invalid_argument& error) {
    err << "checkpoint: " << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    err << "checkpoint: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace trainyard
