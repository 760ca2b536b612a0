// RankOutput takes the output of one rank in pieces. It writes the raw text to
// the rank's log file, and whole lines with the rank in front to a merged
// stream:
//
//   RankOutput output(1, name_ + ".log", merged_, merged_);
//   output.Add(RankOutput::kError, "error: lr");
//   output.Add(RankOutput::kError, " is -1\n");  // [1] error: lr is -1
//
// Lines of several ranks never mix. Thread-compatible.
#ifndef TRAINYARD_TOOLS_LAUNCH_RANK_OUTPUT_H_
#define TRAINYARD_TOOLS_LAUNCH_RANK_OUTPUT_H_

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

class RankOutput {
 public:
  enum Stream { kOutput = 0, kError = 1 };

  // Longer lines are broken; this many last lines are kept.
  static constexpr size_t kLongestLine = 65536;
  static constexpr size_t kLastLines = 12;

  // The file is appended to. Lines go to `merged_output` and `merged_error`,
  // file descriptors that are borrowed. Throws std::system_error if the file
  // cannot be opened.
  RankOutput(int rank, const std::string& log_file, int merged_output = 1,
             int merged_error = 2);
  ~RankOutput();

  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;

  void Add(Stream stream, std::string_view text);
  // Writes a line of the launcher to the log only.
  void AddToLog(const std::string& line);
  // Writes unfinished lines. Call it when the rank has ended.
  void Finish();

  const std::string& log_file() const { return log_file_; }
  // The last lines on standard error, or on standard output if there are none.
  std::vector<std::string> LastLines() const;

 private:
  struct Half {
    int merged = -1;
    std::string line;
    std::deque<std::string> last;
  };

  void WriteLine(Half& half, std::string_view line);

  std::string prefix_;
  std::string log_file_;
  int log_ = -1;
  Half halves_[2];
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_RANK_OUTPUT_H_
