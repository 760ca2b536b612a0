#include "trainer/checkpoint/pt/pt_tensor.h"

#include <absl/status/status.h>

#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

namespace trainyard {
namespace {

using Dtype = SafetensorsDtype;
using Kind = PickleNode::Kind;

constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kRebuildTyped = "torch._utils._rebuild_tensor_v3";
constexpr std::string_view kRebuildParameter =
    "torch._utils._rebuild_parameter";
constexpr std::string_view kUntyped = "torch.storage.UntypedStorage";

constexpr std::pair<std::string_view, Dtype> kStorages[] = {
    {"torch.BoolStorage", Dtype::kBool},
    {"torch.ByteStorage", Dtype::kU8},
    {"torch.CharStorage", Dtype::kI8},
    {"torch.ShortStorage", Dtype::kI16},
    {"torch.IntStorage", Dtype::kI32},
    {"torch.LongStorage", Dtype::kI64},
    {"torch.HalfStorage", Dtype::kF16},
    {"torch.BFloat16Storage", Dtype::kBF16},
    {"torch.FloatStorage", Dtype::kF32},
    {"torch.DoubleStorage", Dtype::kF64},
    {"torch.ComplexFloatStorage", Dtype::kC64},
    {kUntyped, Dtype::kU8},
};

constexpr std::pair<std::string_view, Dtype> kDtypes[] = {
    {"torch.bool", Dtype::kBool},
    {"torch.uint8", Dtype::kU8},
    {"torch.int8", Dtype::kI8},
    {"torch.int16", Dtype::kI16},
    {"torch.uint16", Dtype::kU16},
    {"torch.int32", Dtype::kI32},
    {"torch.uint32", Dtype::kU32},
    {"torch.int64", Dtype::kI64},
    {"torch.uint64", Dtype::kU64},
    {"torch.float16", Dtype::kF16},
    {"torch.bfloat16", Dtype::kBF16},
    {"torch.float32", Dtype::kF32},
    {"torch.float64", Dtype::kF64},
    {"torch.complex64", Dtype::kC64},
    {"torch.float8_e4m3fn", Dtype::kF8E4M3},
    {"torch.float8_e5m2", Dtype::kF8E5M2},
    {"torch.float8_e4m3fnuz", Dtype::kF8E4M3Fnuz},
    {"torch.float8_e5m2fnuz", Dtype::kF8E5M2Fnuz},
    {"torch.float8_e8m0fnu", Dtype::kF8E8M0},
};

template <size_t n>
std::optional<Dtype> Find(const std::pair<std::string_view, Dtype> (&table)[n],
                          const PickleNode& global) {
  if (global.kind != Kind::kGlobal) return std::nullopt;
  for (const auto& [name, dtype] : table) {
    if (name == global.text) return dtype;
  }
  return std::nullopt;
}

uint64_t BytesOf(Dtype dtype) { return DtypeBits(dtype) / 8; }

// Whether the integers of a tuple were read; none is negative.
bool ReadSizes(const PickleTree& tree, const PickleNode& node,
               std::vector<int64_t>& sizes) {
  if (node.kind != Kind::kTuple) return false;
  for (const uint32_t item : node.items) {
    const PickleNode& size = tree.nodes[item];
    if (size.kind != Kind::kInt || size.integer < 0) return false;
    sizes.push_back(size.integer);
  }
  return true;
}

// The storage of a persistent id: ("storage", class, key, device, elements).
bool ReadStorage(const PickleTree& tree, const PickleNode& node,
                 PtTensor& tensor, bool& untyped) {
  if (node.kind != Kind::kPersistent) return false;
  const PickleNode& id = tree.nodes[node.items[0]];
  if (id.kind != Kind::kTuple || id.items.size() != 5) return false;
  const PickleNode& what = tree.nodes[id.items[0]];
  const PickleNode& storage_class = tree.nodes[id.items[1]];
  const PickleNode& key = tree.nodes[id.items[2]];
  const PickleNode& elements = tree.nodes[id.items[4]];
  const std::optional<Dtype> dtype = Find(kStorages, storage_class);
  if (what.text != "storage" || !dtype || key.kind != Kind::kText ||
      elements.kind != Kind::kInt || elements.integer < 0) {
    return false;
  }
  untyped = storage_class.text == kUntyped;
  tensor.dtype = *dtype;
  tensor.storage = key.text;
  return !__builtin_mul_overflow(static_cast<uint64_t>(elements.integer),
                                 BytesOf(*dtype), &tensor.storage_bytes);
}

// Whether every element lies in the storage. Also checks that the number of
// elements and of their bytes fits into 63 bits.
bool LiesInStorage(const PtTensor& tensor) {
  const auto width = static_cast<int64_t>(BytesOf(tensor.dtype));
  const uint64_t elements = tensor.storage_bytes / static_cast<uint64_t>(width);
  int64_t last = tensor.offset;
  bool empty = false;
  int64_t bytes = width;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const int64_t size = tensor.shape[i];
    if (size == 0) {
      empty = true;
      continue;
    }
    int64_t step = 0;
    if (__builtin_mul_overflow(bytes, size, &bytes) ||
        __builtin_mul_overflow(size - 1, tensor.strides[i], &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return false;
    }
  }
  const auto end = static_cast<uint64_t>(empty ? tensor.offset : last + 1);
  return last < INT64_MAX && end <= elements;
}

const PickleNode* Argument(const PickleTree& tree, const PickleNode& call,
                           size_t index) {
  const PickleNode& arguments = tree.nodes[call.items[1]];
  if (index >= arguments.items.size()) return nullptr;
  return &tree.nodes[arguments.items[index]];
}

bool IsNothing(const PickleNode* node) {
  return node == nullptr || node->kind == Kind::kNone ||
         (node->kind == Kind::kDict && node->items.empty());
}

}  // namespace

const std::set<std::string, std::less<>>& PtGlobals() {
  static const auto* const globals = [] {
    auto* const names = new std::set<std::string, std::less<>>{
        "collections.OrderedDict", "torch.Size", std::string(kRebuildTensor),
        std::string(kRebuildTyped), std::string(kRebuildParameter)};
    for (const auto& [name, dtype] : kStorages) names->emplace(name);
    for (const auto& [name, dtype] : kDtypes) names->emplace(name);
    return names;
  }();
  return *globals;
}

std::optional<uint32_t> TensorCall(const PickleTree& tree, uint32_t node) {
  const PickleNode* call = &tree.nodes[node];
  if (call->kind != Kind::kCall) return std::nullopt;
  if (tree.nodes[call->items[0]].text == kRebuildParameter) {
    const PickleNode& arguments = tree.nodes[call->items[1]];
    if (arguments.items.empty()) return std::nullopt;
    node = arguments.items[0];
    call = &tree.nodes[node];
    if (call->kind != Kind::kCall) return std::nullopt;
  }
  const std::string& function = tree.nodes[call->items[0]].text;
  if (function != kRebuildTensor && function != kRebuildTyped) {
    return std::nullopt;
  }
  return node;
}

absl::StatusOr<PtTensor> ReadPtTensor(const PickleTree& tree, uint32_t call) {
  const PickleNode& node = tree.nodes[call];
  const bool typed = tree.nodes[node.items[0]].text == kRebuildTyped;
  const PickleNode* const storage = Argument(tree, node, 0);
  const PickleNode* const offset = Argument(tree, node, 1);
  const PickleNode* const shape = Argument(tree, node, 2);
  const PickleNode* const strides = Argument(tree, node, 3);
  PtTensor tensor;
  bool untyped = false;
  if (strides == nullptr || !ReadStorage(tree, *storage, tensor, untyped) ||
      offset->kind != Kind::kInt || offset->integer < 0 ||
      !ReadSizes(tree, *shape, tensor.shape) ||
      !ReadSizes(tree, *strides, tensor.strides) ||
      tensor.shape.size() != tensor.strides.size()) {
    return absl::DataLossError("is described wrongly");
  }
  tensor.offset = offset->integer;
  if (typed) {
    const PickleNode* const dtype_node = Argument(tree, node, 6);
    const auto dtype =
        dtype_node == nullptr ? std::nullopt : Find(kDtypes, *dtype_node);
    if (!dtype) return absl::DataLossError("is of an unknown type");
    tensor.dtype = *dtype;
  }
  if (typed != untyped) return absl::DataLossError("has a storage of no type");
  if (!LiesInStorage(tensor)) {
    return absl::DataLossError("does not lie in its storage");
  }
  if (!IsNothing(Argument(tree, node, typed ? 7 : 6))) {
    return absl::UnimplementedError(
        "is a conjugate or negative view; save tensor.resolve_conj() or "
        ".resolve_neg()");
  }
  return tensor;
}

uint64_t PtTensorBytes(const PtTensor& tensor) {
  uint64_t bytes = BytesOf(tensor.dtype);
  for (const int64_t size : tensor.shape) bytes *= static_cast<uint64_t>(size);
  return bytes;
}

}  // namespace trainyard
