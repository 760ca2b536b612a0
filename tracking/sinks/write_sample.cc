// Writes a sample run to a folder, as a training loop would, with a checkpoint
// every 50 steps; started again after its end or its death, it goes on from the
// last one. kill_check.py and tensorboard_check.py read what it writes.
//
//   write_sample FOLDER STEPS

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracking/sinks/csv.h"
#include "tracking/sinks/histogram.h"
#include "tracking/sinks/jsonl.h"
#include "tracking/sinks/record.h"
#include "tracking/sinks/tensorboard.h"
#include "tracking/sinks/tracker.h"

namespace trainyard {
namespace {

constexpr int64_t kCheckpointEvery = 50;

// Step and positions, or 0 and none.
std::pair<int64_t, Tracker::Positions> Load(const std::string& path) {
  std::ifstream file(path);
  int64_t step = 0;
  Tracker::Positions positions;
  file >> step;
  std::string name;
  for (int64_t position; file >> name >> position;) positions[name] = position;
  return {step, positions};
}

void Save(const std::string& path, int64_t step, Tracker& tracker) {
  std::ofstream file(path + ".new");
  file << step << "\n";
  for (const auto& [name, position] : tracker.Save()) {
    file << name << " " << position << "\n";
  }
  file.close();
  std::rename((path + ".new").c_str(), path.c_str());
}

void AddOthers(Tracker& tracker) {
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(static_cast<float>(std::sin(i)));
  }
  tracker.Add(1, MakeHistogram("weights/conv1", values));
  tracker.Add(1, tracking::Image{.name = "input/first",
                                 .width = 2,
                                 .height = 1,
                                 .channels = 3,
                                 .pixels = {255, 0, 0, 0, 0, 255}});
  tracker.Add(1,
              tracking::Text{.name = "notes", .text = "a *sample* run, äöü"});
  tracker.Add(
      1, tracking::HyperParameters{.values = {{"lr", 0.003},
                                              {"model", std::string("conv")},
                                              {"amp", true}},
                                   .metrics = {"loss"}});
}

int Run(const std::string& folder, int64_t steps) {
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(MakeJsonLines(folder + "/metrics.jsonl"));
  sinks.push_back(MakeCsv(folder + "/metrics.csv"));
  sinks.push_back(MakeTensorBoard(folder + "/tensorboard"));
  Tracker tracker(std::move(sinks),
                  {.write_every = std::chrono::milliseconds(1)});
  const auto [done, positions] = Load(folder + "/checkpoint");
  tracker.Start(positions);
  if (done == 0) AddOthers(tracker);
  for (int64_t step = done + 1; step <= steps; ++step) {
    const auto x = static_cast<double>(step);
    tracker.Add(
        step, tracking::Row{{"loss", 1 / x}, {"odd, \"name\"", std::sqrt(x)}});
    if (step % kCheckpointEvery == 0) {
      Save(folder + "/checkpoint", step, tracker);
    }
  }
  tracker.Flush();
  if (!tracker.error().empty()) {
    std::fprintf(stderr, "%s\n", tracker.error().c_str());
  }
  return tracker.error().empty() ? 0 : 1;
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  return argc == 3 ? trainyard::Run(argv[1], std::atoll(argv[2])) : 2;
}
