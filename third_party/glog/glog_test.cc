// glog logs beside libtorch, which defines LOG and CHECK too: glog comes last
// and wins.
#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

// Apart from the others, so that it stays last.
#include <glog/logging.h>

#include <cstddef>
#include <ctime>
#include <string>

namespace {

class Sink final : public google::LogSink {
 public:
  void send(google::LogSeverity, const char*, const char*, int, const std::tm*,
            const char* message, std::size_t length) override {
    text_.append(message, length);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

TEST(GlogTest, SendsMessagesToASink) {
  Sink sink;
  LOG_TO_SINK_BUT_NOT_TO_LOGFILE(&sink, INFO) << "epoch " << 3;
  EXPECT_EQ(sink.text(), "epoch 3");
}

TEST(GlogDeathTest, ChecksEndTheProgram) {
  const int batch_size = 0;
  EXPECT_DEATH(CHECK_GT(batch_size, 0) << "no batch",
               "batch_size > 0 .*no batch");
}

}  // namespace
