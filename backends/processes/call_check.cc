#include "backends/processes/call_check.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string_view>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>

#include "backends/processes/rank_record.h"

namespace trainyard {
namespace {

// The words of an exchange: what must be equal, then rows and value.
enum Word : int64_t {
  kKind,
  kArgument,
  kType,
  kDevice,
  kDim,
  kShape,
  kRows,
  kValue,
  kWords
};

const char* NameOf(CallKind kind) {
  switch (kind) {
    case CallKind::kAllReduce:
      return "AllReduce";
    case CallKind::kBroadcast:
      return "Broadcast";
    case CallKind::kAllGather:
      return "AllGather";
    case CallKind::kBarrier:
      return "Barrier";
    case CallKind::kAny:
      return "Any";
    case CallKind::kNote:
      return "PostNote";
  }
  return "?";
}

// A hash of the sizes that must be equal.
int64_t ShapeWord(const Call& call) {
  uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  const int64_t first = call.kind == CallKind::kAllGather ? 1 : 0;
  for (int64_t i = first; i < call.tensor.dim(); ++i) {
    hash =
        (hash ^ static_cast<uint64_t>(call.tensor.size(i))) * 1099511628211ULL;
  }
  return static_cast<int64_t>(hash);
}

std::string Describe(const Call& call, const Collectives::Place& place) {
  std::ostringstream text;
  text << NameOf(call.kind);
  if (call.kind == CallKind::kAllReduce)
    text << " (op " << call.argument << ")";
  if (call.kind == CallKind::kBroadcast) text << " from " << call.argument;
  if (call.tensor.defined()) {
    text << " of " << call.tensor.scalar_type() << " " << call.tensor.sizes()
         << " on " << call.tensor.device().type();
  }
  std::string_view file = place.file_name();
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  text << " at " << file << ":" << place.line();
  return text.str();
}

}  // namespace

CallCheck::CallCheck(ProcessGroup& group) : group_(group) {}

CallCheck::~CallCheck() = default;

void CallCheck::Gather(const at::Tensor& mine, const char* what,
                       Pending& pending) {
  const int64_t size = group_.rendezvous().world_size;
  pending.all = at::empty({size, mine.size(0)}, mine.options());
  std::vector<std::vector<at::Tensor>> outputs = {pending.all.unbind(0)};
  std::vector<at::Tensor> inputs = {mine};
  group_.Guard(
      what, [&] { pending.work = group_.side()->allgather(outputs, inputs); });
}

CallCheck::Pending CallCheck::Begin(const Call& call,
                                    const Collectives::Place& place) {
  at::Tensor mine = at::zeros({kWords}, at::kLong);
  auto* const words = mine.mutable_data_ptr<int64_t>();
  words[kKind] = static_cast<int64_t>(call.kind);
  words[kArgument] = call.argument;
  words[kRows] = call.rows;
  words[kValue] = call.value;
  if (call.tensor.defined()) {
    words[kType] = static_cast<int64_t>(call.tensor.scalar_type()) + 1;
    words[kDevice] = static_cast<int64_t>(call.tensor.device().type());
    words[kDim] = call.tensor.dim();
    words[kShape] = ShapeWord(call);
    words[kRows] = call.tensor.dim() > 0 ? call.tensor.size(0) : 1;
  }
  Pending pending{.call = call, .place = place};
  Gather(mine, NameOf(call.kind), pending);
  return pending;
}

CallAnswers CallCheck::End(const Pending& pending) {
  const Call& call = pending.call;
  group_.Guard(NameOf(call.kind), [&] { pending.work->wait(); });
  const auto* const table = pending.all.const_data_ptr<int64_t>();
  CallAnswers answers;
  for (int64_t rank = 0; rank < pending.all.size(0); ++rank) {
    const int64_t* const row = table + rank * kWords;
    // Compare with rank 0, so that all ranks decide the same.
    if (!std::equal(row, row + kRows, table)) {
      ThrowDifference(call, pending.place);
    }
    answers.rows.push_back(row[kRows]);
    answers.values.push_back(row[kValue]);
  }
  return answers;
}

void CallCheck::EndStarted() {
  if (!started_) return;
  const Pending pending = *std::exchange(started_, std::nullopt);
  finished_ = End(pending);
}

CallAnswers CallCheck::Compare(const Call& call,
                               const Collectives::Place& place) {
  EndStarted();
  return End(Begin(call, place));
}

void CallCheck::Start(const Call& call, const Collectives::Place& place) {
  EndStarted();
  started_ = Begin(call, place);
}

CallAnswers CallCheck::Finish() {
  EndStarted();
  TORCH_CHECK_VALUE(finished_.has_value(), "CallCheck: nothing was started");
  return *std::exchange(finished_, std::nullopt);
}

void CallCheck::ThrowDifference(const Call& call,
                                const Collectives::Place& place) {
  constexpr int64_t kLength = 256;
  at::Tensor mine = at::zeros({kLength}, at::kByte);
  const std::string text = Describe(call, place).substr(0, kLength - 1);
  std::memcpy(mine.mutable_data_ptr(), text.data(), text.size());
  Pending texts{.call = call, .place = place};
  Gather(mine, "comparing calls", texts);
  group_.Guard("comparing calls", [&] { texts.work->wait(); });
  std::string calls;
  for (int64_t rank = 0; rank < texts.all.size(0); ++rank) {
    calls += "\n  rank " + std::to_string(rank) + ": " +
             static_cast<const char*>(texts.all[rank].const_data_ptr());
  }
  group_.record().WriteFailure("the calls of the ranks do not match");
  C10_THROW_ERROR(ValueError, "the calls of the ranks do not match:" + calls);
}

}  // namespace trainyard
