#include "tools/cli/settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(SettingsTest, HeaderExample) {
  Settings settings({"--lr=3e-3", "--warmup_epochs=1"});
  const double lr = settings.Number("lr", 1);
  const Duration warmup = settings.Length("warmup").value_or(Updates(0));
  settings.CheckAllUsed("cosine");
  EXPECT_EQ(lr, 3e-3);
  EXPECT_EQ(warmup, Epochs(1));
}

std::string FileOf(const std::string& text) {
  const std::string path = ::testing::TempDir() + "/settings.conf";
  std::ofstream(path) << text;
  return path;
}

TEST(SettingsTest, TheCommandLineWinsOverTheFile) {
  Settings settings({"--lr=1"});
  settings.AddFile(FileOf("# a comment\n\n lr = 2 \r\ntext=a=b\nempty=\n"));
  EXPECT_EQ(settings.Number("lr", 0), 1);
  EXPECT_EQ(settings.Text("text", ""), "a=b");
  EXPECT_EQ(settings.Text("empty", "x"), "");
  settings.CheckAllUsed("test");
}

TEST(SettingsTest, ErrorsOfAFileNameItsLine) {
  const auto error_of = [](const std::string& text) {
    return ErrorOf([&] {
      Settings settings({});
      settings.AddFile(FileOf(text));
      settings.Number("gamma", 1);
      settings.CheckAllUsed("step");
    });
  };
  const std::string path = FileOf("");
  EXPECT_EQ(error_of("gamma=1\n--gamma\n"),
            path + ":2: '--gamma' is not of the form name=value");
  EXPECT_EQ(error_of("gamma=1\ngamma=2\n"), path + ":2: gamma is given twice");
  EXPECT_EQ(error_of("\ngamma=x\n"), path + ":2: gamma is 'x', want a number");
  EXPECT_EQ(error_of("gama=2\n"),
            path +
                ":1: gama is not a setting of step; did you mean gamma? "
                "It takes gamma");
  EXPECT_EQ(ErrorOf([] { Settings({}).AddFile("/no/file"); }),
            "cannot read /no/file: No such file or directory");
}

TEST(SettingsTest, ReadsEveryKind) {
  Settings settings({"--plain", "--off=false", "--text=a=b", "--whole=12",
                     "--at_epochs=30,60.5", "--steps_updates=4,2",
                     "--decay_updates=7"});
  EXPECT_TRUE(settings.Flag("plain"));
  EXPECT_FALSE(settings.Flag("off"));
  EXPECT_FALSE(settings.Flag("absent"));
  EXPECT_EQ(settings.Text("text", ""), "a=b");
  EXPECT_EQ(settings.Integer("whole", 0), 12);
  EXPECT_EQ(settings.List("at"), Epochs({30, 60.5}));
  EXPECT_EQ(settings.List("steps"), Updates({2, 4}));
  EXPECT_EQ(settings.Length("decay"), Updates(7));
  settings.CheckAllUsed("test");
}

TEST(SettingsTest, AbsentSettingsHaveTheirDefaults) {
  Settings settings({});
  EXPECT_EQ(settings.Number("x", 2.5), 2.5);
  EXPECT_EQ(settings.Integer("x", 3), 3);
  EXPECT_EQ(settings.Text("x", "y"), "y");
  EXPECT_EQ(settings.OptionalNumber("x"), std::nullopt);
  EXPECT_EQ(settings.Length("x"), std::nullopt);
  EXPECT_EQ(settings.List("x"), std::nullopt);
  EXPECT_FALSE(settings.Has("x"));
}

TEST(SettingsTest, ErrorsNameTheSettingAndItsValue) {
  EXPECT_EQ(ErrorOf([] { Settings({"lr=1"}); }),
            "'lr=1' is not of the form --name=value");
  EXPECT_EQ(ErrorOf([] { Settings({"--lr=1", "--lr=2"}); }),
            "--lr is given twice");
  for (const char* bad : {"", "x", "1x", "nan", "1e999"}) {
    EXPECT_EQ(ErrorOf([=] {
                Settings({"--lr=" + std::string(bad)}).Number("lr", 1);
              }),
              "--lr is '" + std::string(bad) + "', want a number");
  }
  EXPECT_EQ(ErrorOf([] { Settings({"--n=1.5"}).Integer("n", 1); }),
            "--n is '1.5', want an integer");
  EXPECT_EQ(ErrorOf([] { Settings({"--n=9"}).Integer("n", 1, 0, 8); }),
            "--n is '9', want 0 to 8");
  EXPECT_EQ(ErrorOf([] { Settings({"--n=-1"}).Integer("n", 1, 0, 8); }),
            "--n is '-1', want 0 to 8");
  EXPECT_EQ(ErrorOf([] { Settings({"--f=maybe"}).Flag("f"); }),
            "--f is 'maybe', want true or false");
  EXPECT_EQ(
      ErrorOf([] { Settings({"--w_updates=1", "--w_epochs=1"}).Length("w"); }),
      "both --w_updates and --w_epochs are given");
  EXPECT_EQ(ErrorOf([] { Settings({"--at_epochs=1,,2"}).List("at"); }),
            "--at_epochs is '', want a number");
}

TEST(SettingsTest, AnUnusedSettingIsAnError) {
  Settings settings({"--lr=1", "--gama=2"});
  settings.Number("lr", 1);
  settings.Number("gamma", 1);
  EXPECT_EQ(ErrorOf([&] { settings.CheckAllUsed("step"); }),
            "--gama is not a setting of step; did you mean --gamma? It takes "
            "--gamma --lr");
}

}  // namespace
}  // namespace trainyard
