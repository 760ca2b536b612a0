#include "backends/processes/call_log.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace trainyard {

using std::chrono::steady_clock;
using std::chrono::system_clock;

CallLog::Scope::Scope(CallLog& log, const CallSubject& subject,
                      const std::source_location& place)
    : log_(log), exceptions_(std::uncaught_exceptions()) {
  log_.Begin(subject, place);
}

CallLog::Scope::~Scope() {
  log_.End(/*failed=*/std::uncaught_exceptions() > exceptions_);
}

CallLog::CallLog(std::string thread)
    : thread_(std::move(thread)), last_(steady_clock::now()) {}

void CallLog::Begin(const CallSubject& subject,
                    const std::source_location& place) {
  const std::lock_guard lock(mutex_);
  last_ = steady_clock::now();
  if (depth_++ > 0) return;
  LoggedCall& call = calls_[static_cast<size_t>(count_) % kKept];
  call = {.number = ++count_,
          .subject = subject,
          .place = place,
          .started = system_clock::now()};
}

void CallLog::End(bool failed) {
  const std::lock_guard lock(mutex_);
  last_ = steady_clock::now();
  if (--depth_ > 0) return;
  LoggedCall& call = calls_[static_cast<size_t>(count_ - 1) % kKept];
  call.ended = system_clock::now();
  call.failed = failed;
}

std::vector<LoggedCall> CallLog::Read() const {
  const std::lock_guard lock(mutex_);
  std::vector<LoggedCall> calls;
  const auto kept = static_cast<int64_t>(kKept);
  for (int64_t i = std::max<int64_t>(0, count_ - kept); i < count_; ++i) {
    calls.push_back(calls_[static_cast<size_t>(i) % kKept]);
  }
  return calls;
}

steady_clock::duration CallLog::Quiet() const {
  const std::lock_guard lock(mutex_);
  return steady_clock::now() - last_;
}

std::string DescribeTensor(const CallSubject& subject) {
  if (subject.type == nullptr) return "";
  std::string text = std::string(subject.type) + " [";
  const size_t known = std::min(subject.dim, CallSubject::kMostSizes);
  for (size_t i = 0; i < known; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(subject.sizes[i]);
  }
  return text + (subject.dim > known ? ", …]" : "]");
}

}  // namespace trainyard
