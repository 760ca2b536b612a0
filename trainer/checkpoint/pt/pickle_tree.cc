#include "trainer/checkpoint/pt/pickle_tree.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <bit>
#include <iterator>
#include <map>
#include <utility>

#include "trainer/io/quoted_name.h"
#include "trainer/io/utf8.h"

namespace trainyard {
namespace {

using Kind = PickleNode::Kind;

// More than the largest checkpoints have; bounds the memory.
constexpr size_t kMaxNodes = 4'000'000;
constexpr std::string_view kOrderedDict = "collections.OrderedDict";

// Every operation that is carried out. Names are those of Python's pickle.
enum Op : unsigned char {
  kMark = '(',
  kStop = '.',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNoneOp = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobalOp = 'c',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kEmptyList = ']',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTupleOp = 't',
  kSetItems = 'u',
  kEmptyDict = '}',
  kEmptyTuple = ')',
  kBinFloat = 'G',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  // Of protocol 4.
  kShortBinUnicode = 0x8c,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

class Machine {
 public:
  Machine(std::string_view bytes,
          const std::set<std::string, std::less<>>& allowed)
      : bytes_(bytes), allowed_(allowed) {}

  absl::StatusOr<PickleTree> Run() {
    while (status_.ok() && !stopped_) {
      start_ = at_;
      const auto op = static_cast<unsigned char>(Unsigned(1));
      if (status_.ok()) Step(op);
    }
    if (!status_.ok()) return status_;
    if (at_ != bytes_.size()) Fail("bytes follow the end of the pickle");
    if (stack_.size() != 1 || !marks_.empty()) {
      Fail("the pickle does not leave one value");
    }
    if (!status_.ok()) return status_;
    tree_.root = stack_.front();
    return std::move(tree_);
  }

 private:
  void Fail(std::string_view what) {
    if (!status_.ok()) return;
    status_ = absl::DataLossError(
        absl::StrCat("byte ", start_, ": ", std::string(what)));
  }

  void Refuse(std::string_view what) {
    if (!status_.ok()) return;
    status_ = absl::UnimplementedError(
        absl::StrCat("byte ", start_, ": ", std::string(what)));
  }

  // Reading. After a failure the results are empty.

  std::string_view Take(uint64_t count) {
    if (count > bytes_.size() - at_) {
      Fail("the pickle is cut off");
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  uint64_t Unsigned(size_t count) {
    uint64_t value = 0;
    const std::string_view taken = Take(count);
    for (size_t i = taken.size(); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(taken[i]);
    }
    return value;
  }

  // Little-endian two's complement of at most eight bytes.
  int64_t Signed(size_t count) {
    const uint64_t value = Unsigned(count);
    if (count == 0 || count == 8) return static_cast<int64_t>(value);
    const uint64_t sign = uint64_t{1} << (8 * count - 1);
    return static_cast<int64_t>((value ^ sign) - sign);
  }

  std::string_view Line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) {
      Fail("the pickle is cut off");
      return {};
    }
    const std::string_view line = Take(end - at_);
    ++at_;
    return line;
  }

  double BigEndianDouble() {
    uint64_t bits = 0;
    for (const char byte : Take(8)) {
      bits = bits << 8 | static_cast<unsigned char>(byte);
    }
    return std::bit_cast<double>(bits);
  }

  // The stack. Values above the newest mark belong to it.

  void Push(PickleNode node) {
    if (!status_.ok()) return;
    if (tree_.nodes.size() >= kMaxNodes) return Fail("the pickle is too large");
    stack_.push_back(static_cast<uint32_t>(tree_.nodes.size()));
    tree_.nodes.push_back(std::move(node));
  }

  // Returns the newest values, oldest first, and removes them.
  std::vector<uint32_t> Pop(size_t count) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < count) {
      Fail("the pickle takes a value that is not there");
      return {};
    }
    const std::vector<uint32_t> popped(
        stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return popped;
  }

  std::vector<uint32_t> PopToMark() {
    if (marks_.empty()) {
      Fail("the pickle has no mark here");
      return {};
    }
    std::vector<uint32_t> popped = Pop(stack_.size() - marks_.back());
    marks_.pop_back();
    return popped;
  }

  // The newest value, which stays, if it is of this kind.
  PickleNode* Top(Kind kind) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (status_.ok() && stack_.size() > floor &&
        tree_.nodes[stack_.back()].kind == kind) {
      return &tree_.nodes[stack_.back()];
    }
    Fail("the pickle has another kind of value here than it needs");
    return nullptr;
  }

  void Add(Kind kind, const std::vector<uint32_t>& items) {
    if (kind == Kind::kDict && items.size() % 2 != 0) {
      return Fail("the pickle has a key without a value");
    }
    PickleNode* const container = Top(kind);
    if (container == nullptr) return;
    container->items.insert(container->items.end(), items.begin(), items.end());
  }

  // The operations.

  void PushText(uint64_t size) {
    const std::string_view text = Take(size);
    if (ValidUtf8Prefix(text) != text.size()) {
      return Fail("the pickle has a text that is not UTF-8");
    }
    Push({.kind = Kind::kText, .text = std::string(text)});
  }

  void PushGlobal(std::string_view module, std::string_view name) {
    if (!status_.ok()) return;
    const std::string global =
        absl::StrCat(std::string(module), ".", std::string(name));
    if (!allowed_.contains(global)) {
      return Refuse(absl::StrCat("needs ", QuotedName(global),
                                 ", which a file of tensors may not use"));
    }
    Push({.kind = Kind::kGlobal, .text = global});
  }

  void StackGlobal() {
    const std::vector<uint32_t> names = Pop(2);
    if (!status_.ok()) return;
    if (tree_.nodes[names[0]].kind != Kind::kText ||
        tree_.nodes[names[1]].kind != Kind::kText) {
      return Fail("the pickle names a global by something else than text");
    }
    PushGlobal(tree_.nodes[names[0]].text, tree_.nodes[names[1]].text);
  }

  void Reduce() {
    std::vector<uint32_t> call = Pop(2);
    if (!status_.ok()) return;
    const PickleNode& function = tree_.nodes[call[0]];
    const PickleNode& arguments = tree_.nodes[call[1]];
    if (function.kind != Kind::kGlobal || arguments.kind != Kind::kTuple) {
      return Fail("the pickle calls something that is no function");
    }
    if (function.text != kOrderedDict) {
      return Push({.kind = Kind::kCall, .items = std::move(call)});
    }
    if (!arguments.items.empty()) {
      return Refuse("the pickle makes an OrderedDict from a list of pairs");
    }
    Push({.kind = Kind::kDict});
  }

  // Attributes of a dictionary (a state dict's _metadata) are dropped.
  void Build() {
    Pop(1);
    if (status_.ok()) Top(Kind::kDict);
  }

  void Put(uint64_t key) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) return Fail("the pickle keeps no value");
    memo_[key] = stack_.back();
  }

  void Get(uint64_t key) {
    if (!status_.ok()) return;
    const auto found = memo_.find(key);
    if (found == memo_.end()) {
      return Fail("the pickle refers to a value that it has not kept");
    }
    if (stack_.size() >= kMaxNodes) return Fail("the pickle is too large");
    stack_.push_back(found->second);
  }

  void Step(unsigned char op) {
    switch (op) {
      case kProto:
        if (Unsigned(1) > 5) Refuse("the pickle is of a newer protocol than 5");
        return;
      case kFrame:
        Take(8);
        return;
      case kStop:
        stopped_ = true;
        return;
      case kMark:
        return marks_.push_back(stack_.size());
      case kNoneOp:
        return Push({});
      case kNewTrue:
      case kNewFalse:
        return Push({.kind = Kind::kBool, .integer = op == kNewTrue});
      case kBinInt:
        return Push({.kind = Kind::kInt, .integer = Signed(4)});
      case kBinInt1:
        return Push(
            {.kind = Kind::kInt, .integer = static_cast<int64_t>(Unsigned(1))});
      case kBinInt2:
        return Push(
            {.kind = Kind::kInt, .integer = static_cast<int64_t>(Unsigned(2))});
      case kLong1:
        return PushLong();
      case kBinFloat:
        return Push({.kind = Kind::kFloat, .number = BigEndianDouble()});
      case kBinUnicode:
        return PushText(Unsigned(4));
      case kShortBinUnicode:
        return PushText(Unsigned(1));
      case kEmptyTuple:
        return Push({.kind = Kind::kTuple});
      case kTuple1:
      case kTuple2:
      case kTuple3:
        return Push({.kind = Kind::kTuple, .items = Pop(op - kTuple1 + 1U)});
      case kTupleOp:
        return Push({.kind = Kind::kTuple, .items = PopToMark()});
      case kEmptyList:
        return Push({.kind = Kind::kList});
      case kAppend:
        return Add(Kind::kList, Pop(1));
      case kAppends:
        return Add(Kind::kList, PopToMark());
      case kEmptyDict:
        return Push({.kind = Kind::kDict});
      case kSetItem:
        return Add(Kind::kDict, Pop(2));
      case kSetItems:
        return Add(Kind::kDict, PopToMark());
      case kBinPut:
        return Put(Unsigned(1));
      case kLongBinPut:
        return Put(Unsigned(4));
      case kMemoize:
        return Put(memo_.size());
      case kBinGet:
        return Get(Unsigned(1));
      case kLongBinGet:
        return Get(Unsigned(4));
      case kGlobalOp: {
        const std::string_view module = Line();
        return PushGlobal(module, Line());
      }
      case kStackGlobal:
        return StackGlobal();
      case kReduce:
        return Reduce();
      case kBuild:
        return Build();
      case kBinPersId:
        return Push({.kind = Kind::kPersistent, .items = Pop(1)});
      default:
        return Refuse(absl::StrCat("the pickle has operation ", op,
                                   ", which a file of tensors may not use"));
    }
  }

  void PushLong() {
    const uint64_t size = Unsigned(1);
    if (size > 8) return Refuse("the pickle has an integer of over 64 bits");
    Push({.kind = Kind::kInt, .integer = Signed(size)});
  }

  const std::string_view bytes_;
  const std::set<std::string, std::less<>>& allowed_;
  size_t at_ = 0;
  size_t start_ = 0;  // of the present operation
  bool stopped_ = false;
  PickleTree tree_;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;
  std::map<uint64_t, uint32_t> memo_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<PickleTree> ParsePickle(
    std::string_view bytes,
    const std::set<std::string, std::less<>>& allowed_globals) {
  if (bytes.size() > kMaxPickle) {
    return absl::DataLossError(absl::StrCat("the pickle has ", bytes.size(),
                                            " bytes, more than ", kMaxPickle));
  }
  return Machine(bytes, allowed_globals).Run();
}

std::string_view KindName(PickleNode::Kind kind) {
  constexpr std::string_view kNames[] = {
      "None",    "a bool",    "an integer", "a number",
      "a text",  "a tuple",   "a list",     "a dictionary",
      "a class", "an object", "a storage",
  };
  static_assert(std::size(kNames) ==
                static_cast<size_t>(Kind::kPersistent) + 1);
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace trainyard
