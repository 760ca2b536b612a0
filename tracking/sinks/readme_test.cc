// The example of tracking/README.md.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracking/sinks/console.h"
#include "tracking/sinks/histogram.h"
#include "tracking/sinks/tensorboard.h"
#include "tracking/sinks/tracker.h"

namespace trainyard {
namespace {

TEST(ReadmeTest, ALoopOfYourOwn) {
  const std::string folder = ::testing::TempDir() + "/readme";
  const std::vector<float> weights = {0.1F, 0.2F};
  {
    std::vector<std::unique_ptr<Sink>> sinks;
    sinks.push_back(MakeTensorBoard(folder + "/tensorboard"));
    sinks.push_back(MakeConsole({.every = 10}));
    Tracker tracker(std::move(sinks));
    tracker.Add(10, tracking::Row{{"loss", 0.5}, {"lr", 0.001}});
    tracker.Add(10, MakeHistogram("weights/conv1", weights));
  }
  EXPECT_GT(
      std::filesystem::file_size(folder + "/tensorboard/" + kEventFileName),
      100);
}

}  // namespace
}  // namespace trainyard
