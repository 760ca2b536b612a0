// RankOutput takes what one rank prints, in pieces as they come, and writes it
// to the rank's log file as it is, and to a merged stream line by line, each
// with the rank in front:
//
//   RankOutput output(1, "logs/rank1.log");
//   output.Add(RankOutput::kError, "lr is -1\n");  // [1] lr is -1
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

  // A longer line is broken; so many last lines are kept.
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
  // A line of the launcher's own, for the log alone.
  void AddToLog(const std::string& line);
  // Writes lines that have no end. Call it when the rank has ended.
  void Finish();

  const std::string& log_file() const { return log_file_; }
  // What it printed last: on standard error, or else on standard output.
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
