#include "tools/inspect/hang_report.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace trainyard {
namespace {

using Ranks = std::set<int64_t>;

std::string NameOf(const Ranks& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + absl::StrJoin(ranks, ", ");
}

const char* Verb(const Ranks& ranks, const char* one, const char* several) {
  return ranks.size() == 1 ? one : several;
}

std::string Describe(const RecordedCall& call) {
  return absl::StrCat("call ", call.number, ", ", call.what,
                      call.of.empty() ? "" : " of ", call.of, " at ", call.at);
}

// A call that no rank ends before all have made it.
bool NeedsAll(const RecordedCall& call) {
  return call.what == "AllReduce" || call.what == "AllGather" ||
         call.what == "Barrier" || call.what == "Any";
}

// Whether these cannot be the same call of two ranks. The place may differ:
// rank 0 often sends in one line what the others receive in another.
bool Differ(const RecordedCall& a, const RecordedCall& b) {
  return a.what != b.what || (a.what != "AllGather" && a.of != b.of);
}

// The calls of one thread on all ranks that left a record.
class ThreadReport {
 public:
  ThreadReport(const std::vector<RankCalls>& records, const std::string& thread)
      : world_size_(records.front().world_size) {
    for (const RankCalls& record : records) {
      now_ = std::max(now_, record.written);
      recorded_.insert(record.rank);
      const auto found = record.threads.find(thread);
      if (found != record.threads.end() && !found->second.empty()) {
        calls_[record.rank] = &found->second;
        written_[record.rank] = record.written;
      }
    }
    FindLate();
  }

  bool AnyWaits() const {
    return std::any_of(calls_.begin(), calls_.end(), [](const auto& item) {
      return item.second->back().waits();
    });
  }

  void Print(std::ostream& out) const {
    PrintPlaces(out);
    PrintLate(out);
    PrintMissing(out);
    const bool differ = PrintFirstDifference(out);
    PrintWaiting(differ, out);
  }

 private:
  // A rank that was frozen comes to the call of the others when they have given
  // up, if it is woken then.
  void FindLate() {
    for (const auto& [rank, calls] : calls_) {
      const RecordedCall& last = calls->back();
      for (const auto& [other, others_calls] : calls_) {
        const RecordedCall& theirs = others_calls->back();
        if (last.waits() && theirs.waits() && last.number == theirs.number &&
            last.started > written_.at(other)) {
          const double later = last.started - theirs.started;
          late_[rank] = std::max(late_[rank], later);
        }
      }
    }
  }

  void PrintLate(std::ostream& out) const {
    for (const auto& [rank, later] : late_) {
      out << "rank " << rank << " came to " << Describe(calls_.at(rank)->back())
          << absl::StrFormat(", %.1f s after the others, who had given up\n",
                             later);
    }
  }

  // Ranks that are at the same place share a line.
  void PrintPlaces(std::ostream& out) const {
    std::map<std::pair<std::string, bool>, Ranks> places;
    std::map<std::pair<std::string, bool>, double> longest;
    std::vector<std::pair<std::string, bool>> order;
    for (const auto& [rank, calls] : calls_) {
      if (late_.contains(rank)) continue;
      const RecordedCall& last = calls->back();
      const std::pair key(Describe(last), last.waits());
      if (places[key].empty()) order.push_back(key);
      places[key].insert(rank);
      const double since = now_ - (last.waits() ? last.started : *last.ended);
      longest[key] = std::max(longest[key], since);
    }
    for (const auto& key : order) {
      const Ranks& ranks = places[key];
      if (key.second) {
        out << NameOf(ranks) << Verb(ranks, " waits", " wait") << " in "
            << key.first << absl::StrFormat(", since %.1f s\n", longest[key]);
      } else {
        out << NameOf(ranks) << Verb(ranks, " is", " are")
            << " between calls: " << key.first
            << absl::StrFormat(" ended %.1f s ago\n", longest[key]);
      }
    }
    for (const int64_t rank : recorded_) {
      if (!calls_.contains(rank)) {
        out << "rank " << rank << " has made no call here\n";
      }
    }
  }

  Ranks Missing() const {
    Ranks missing;
    for (int64_t rank = 0; rank < world_size_; ++rank) {
      if (!recorded_.contains(rank)) missing.insert(rank);
    }
    return missing;
  }

  void PrintMissing(std::ostream& out) const {
    const Ranks missing = Missing();
    if (missing.empty()) return;
    out << NameOf(missing) << " left no record: killed, frozen, or never there";
    const RecordedCall* together = nullptr;
    for (const auto& [rank, calls] : calls_) {
      for (const RecordedCall& call : *calls) {
        if (call.waits() || !NeedsAll(call)) continue;
        if (together == nullptr || call.number > together->number) {
          together = &call;
        }
      }
    }
    if (together != nullptr) {
      out << "; the last call that all ranks made is " << Describe(*together);
    }
    out << "\n";
  }

  // Returns whether there is one.
  bool PrintFirstDifference(std::ostream& out) const {
    std::map<int64_t, std::map<int64_t, const RecordedCall*>> by_number;
    for (const auto& [rank, calls] : calls_) {
      for (const RecordedCall& call : *calls) {
        by_number[call.number][rank] = &call;
      }
    }
    for (const auto& [number, by_rank] : by_number) {
      const RecordedCall& first = *by_rank.begin()->second;
      const bool differ = std::any_of(
          by_rank.begin(), by_rank.end(),
          [&](const auto& item) { return Differ(first, *item.second); });
      if (!differ) continue;
      out << "the calls of the ranks differ from call " << number << " on:\n";
      std::map<std::string, Ranks> kinds;
      for (const auto& [rank, call] : by_rank) {
        kinds[Describe(*call)].insert(rank);
      }
      for (const auto& [kind, ranks] : kinds) {
        out << "  " << NameOf(ranks) << ": " << kind << "\n";
      }
      return true;
    }
    return false;
  }

  void PrintWaiting(bool differ, std::ostream& out) const {
    int64_t furthest = 0;
    for (const auto& [rank, calls] : calls_) {
      if (calls->back().waits()) {
        furthest = std::max(furthest, calls->back().number);
      }
    }
    if (furthest == 0) {
      out << "=> no rank waits for another one\n";
      return;
    }
    Ranks waiting, awaited = Missing();
    for (const int64_t rank : recorded_) {
      const auto calls = calls_.find(rank);
      const bool behind = calls == calls_.end() || late_.contains(rank) ||
                          calls->second->back().number < furthest;
      (behind ? awaited : waiting).insert(rank);
    }
    if (differ) {
      out << "=> a rank has left a call out, or makes one too many: see where "
             "they begin to differ\n";
    } else if (awaited.empty()) {
      out << "=> all ranks are in the same call: the network, or a rank that "
             "was frozen in it\n";
    } else {
      out << "=> " << NameOf(waiting) << Verb(waiting, " waits", " wait")
          << " for " << NameOf(awaited) << "\n";
    }
  }

  const int64_t world_size_;
  double now_ = 0;
  Ranks recorded_;
  std::map<int64_t, const std::vector<RecordedCall>*> calls_;
  std::map<int64_t, double> written_;
  // How much later they came.
  std::map<int64_t, double> late_;
};

}  // namespace

void PrintHang(const std::vector<RankCalls>& records, std::ostream& out) {
  const RankCalls& first = records.front();
  double last = 0;
  Ranks recorded;
  std::set<std::string> threads;
  for (const RankCalls& record : records) {
    last = std::max(last, record.written);
    recorded.insert(record.rank);
    for (const auto& [name, calls] : record.threads) threads.insert(name);
  }
  out << "run " << first.run << ", attempt " << first.attempt << ", "
      << first.world_size << " ranks; records of " << NameOf(recorded)
      << ", the last of " << UtcTime(last) << "\n";
  // Later failures of the others say that it does not answer.
  for (const RankCalls& record : records) {
    if (record.why.starts_with("ended: ")) {
      out << "rank " << record.rank << " " << record.why << "\n";
    }
  }
  for (const std::string& name : threads) {
    const ThreadReport report(records, name);
    if (name != "main" && !report.AnyWaits()) continue;
    if (threads.size() > 1) out << name << ":\n";
    report.Print(out);
  }
}

}  // namespace trainyard
