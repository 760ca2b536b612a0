// ParsePickle turns a pickle into a tree of values. It runs nothing: a pickle
// may name functions, and those that the caller allows become nodes of the
// tree; any other is an error, as is an operation that state dicts do not need.
// The input may come from anybody. Free of libtorch.
//
//   absl::StatusOr<PickleTree> tree =
//       ParsePickle(bytes, {"collections.OrderedDict"});
//   if (!tree.ok()) return tree.status();  // "byte 17: …"
//   const PickleNode& root = tree->nodes[tree->root];
//
// Nodes are numbers, texts, containers and calls. A container can occur in
// several places, and even in itself: a reader of the tree must bound its
// steps. Needs memory for about 60 times the bytes. Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PT_PICKLE_TREE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PT_PICKLE_TREE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// The maximum size of a pickle.
inline constexpr size_t kMaxPickle = size_t{64} << 20;

struct PickleNode {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kFloat,
    kText,
    kTuple,
    kList,
    kDict,
    // An allowed function or class; `text` is its name, "module.name".
    kGlobal,
    // The call of a global: the first item is the global, the second the tuple
    // of arguments.
    kCall,
    // An object outside of the pickle: the only item is its id.
    kPersistent,
  };

  Kind kind = Kind::kNone;
  // Of kInt and kBool.
  int64_t integer = 0;
  // Of kFloat.
  double number = 0;
  // Of kText, in UTF-8, and kGlobal.
  std::string text = {};
  // Of containers and calls, as indices of nodes. A dictionary has key and
  // value alternately, in the order of insertion.
  std::vector<uint32_t> items = {};
};

struct PickleTree {
  std::vector<PickleNode> nodes;
  uint32_t root = 0;
};

// Returns DataLoss if the bytes are no complete pickle, and Unimplemented if
// they need an operation or a global that is not allowed.
// "collections.OrderedDict", if allowed, becomes a dictionary.
absl::StatusOr<PickleTree> ParsePickle(
    std::string_view bytes,
    const std::set<std::string, std::less<>>& allowed_globals);

// "a text", "a dictionary": for messages.
std::string_view KindName(PickleNode::Kind kind);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PT_PICKLE_TREE_H_
