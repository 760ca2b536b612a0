#include "trainer/exported/graph.h"

#include <absl/status/status.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>
#include <set>

#include "trainer/io/json_reader.h"
#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

using Kind = GraphArgument::Kind;

// Reads an object: `read` gets each key, which comes once, and returns false
// for a key that it does not know.
template <class Read>
void ReadObject(JsonReader& json, const Read& read) {
  std::set<std::string> seen;
  std::string key;
  json.BeginObject();
  while (json.NextKey(key)) {
    if (!seen.insert(key).second) {
      json.Fail("the key comes twice in its object");
    } else if (!read(key)) {
      json.Fail("an unknown key");
    }
  }
}

template <class Read>
void ReadArray(JsonReader& json, const Read& read) {
  json.BeginArray();
  while (json.NextItem()) read();
}

void ReadFloat(JsonReader& json, double& value) {
  if (json.Peek() != '"') {
    json.ReadDouble(value);
    return;
  }
  std::string text;
  json.ReadString(text);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "inf") {
    value = kInfinity;
  } else if (text == "-inf") {
    value = -kInfinity;
  } else if (text == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    json.Fail("expected a number, \"inf\", \"-inf\" or \"nan\"");
  }
}

void ReadOnly(JsonReader& json, std::string_view only) {
  std::string text;
  if (json.ReadString(text) && text != only) {
    json.Fail(std::string("expected \"") + std::string(only) + "\"");
  }
}

GraphArgument ReadArgument(JsonReader& json, bool in_list);

// An object with one key, which says of what kind the argument is.
bool ReadTagged(JsonReader& json, const std::string& key, bool in_list,
                GraphArgument& argument) {
  if (key == "value" || key == "int") {
    argument.kind = key == "int" ? Kind::kInt : Kind::kValue;
    json.ReadInt64(argument.whole);
    if (key == "value" && argument.whole < 0) {
      json.Fail("a value's number is below 0");
    }
  } else if (key == "float") {
    argument.kind = Kind::kFloat;
    ReadFloat(json, argument.real);
  } else if (key == "text" || key == "dtype" || key == "memory_format") {
    argument.kind = key == "text"    ? Kind::kText
                    : key == "dtype" ? Kind::kDtype
                                     : Kind::kMemoryFormat;
    json.ReadString(argument.text);
  } else if (key == "device") {
    argument.kind = Kind::kDevice;
    ReadOnly(json, "model");
  } else if (key == "layout") {
    argument.kind = Kind::kLayout;
    ReadOnly(json, "strided");
  } else if (key == "list" && in_list) {
    json.Fail("a list in a list");
  } else if (key == "list") {
    argument.kind = Kind::kList;
    ReadArray(json, [&] {
      argument.items.push_back(ReadArgument(json, /*in_list=*/true));
    });
  } else {
    return false;
  }
  return true;
}

GraphArgument ReadArgument(JsonReader& json, bool in_list) {
  GraphArgument argument;
  const char first = json.Peek();
  if (first == 't' || first == 'f') {
    bool value = false;
    json.ReadBool(value);
    argument.kind = Kind::kBool;
    argument.whole = value ? 1 : 0;
  } else if (!json.ReadNull()) {
    size_t keys = 0;
    ReadObject(json, [&](const std::string& key) {
      if (++keys > 1) return !json.Fail("an argument of two kinds");
      return ReadTagged(json, key, in_list, argument);
    });
    if (keys == 0) json.Fail("an argument of no kind");
  }
  return argument;
}

GraphNode ReadNode(JsonReader& json) {
  GraphNode node;
  uint64_t results = 1;
  ReadObject(json, [&](const std::string& key) {
    if (key == "op") {
      json.ReadString(node.op);
    } else if (key == "overload") {
      json.ReadString(node.overload);
    } else if (key == "module") {
      json.ReadString(node.module);
    } else if (key == "gradients") {
      json.ReadBool(node.gradients);
    } else if (key == "results") {
      if (json.ReadUint64(results) && results > kMaxGraphResults) {
        json.Fail("a node of more than 64 results");
      }
    } else if (key == "args") {
      ReadArray(json, [&] { node.args.push_back(ReadArgument(json, false)); });
    } else if (key == "kwargs") {
      ReadObject(json, [&](const std::string& name) {
        node.kwargs.emplace_back(name, ReadArgument(json, false));
        return true;
      });
    } else {
      return false;
    }
    return true;
  });
  if (node.op.empty()) json.Fail("a node without an operator");
  node.results = results;
  return node;
}

GraphSize ReadSize(JsonReader& json) {
  GraphSize size;
  if (json.ReadNull()) return size;
  if (json.Peek() != '{') {
    int64_t number = 0;
    if (json.ReadInt64(number) && number < 0) json.Fail("a size below 0");
    size.number = number;
    return size;
  }
  ReadObject(json, [&](const std::string& key) {
    if (key == "size") return json.ReadString(size.name) || true;
    if (key == "min") return json.ReadInt64(size.min) || true;
    if (key == "max") return json.ReadInt64(size.max) || true;
    return false;
  });
  if (size.name.empty()) json.Fail("a size without a name");
  return size;
}

GraphInput ReadInput(JsonReader& json) {
  GraphInput input;
  bool is_tensor = false;
  ReadObject(json, [&](const std::string& key) {
    if (key == "tensor" || key == "input") {
      (key == "tensor" ? is_tensor : input.is_passed) = true;
      json.ReadString(input.name);
    } else if (key == "dtype") {
      json.ReadString(input.dtype);
    } else if (key == "sizes") {
      ReadArray(json, [&] { input.sizes.push_back(ReadSize(json)); });
    } else {
      return false;
    }
    return true;
  });
  if (is_tensor == input.is_passed) {
    json.Fail("an input must be either a \"tensor\" or an \"input\"");
  }
  return input;
}

GraphOutput ReadOutput(JsonReader& json) {
  GraphOutput output;
  bool has_value = false;
  ReadObject(json, [&](const std::string& key) {
    if (key == "name") return json.ReadString(output.name) || true;
    if (key != "value") return false;
    uint64_t value = 0;
    json.ReadUint64(value);
    output.value = value;
    return has_value = true;
  });
  if (!has_value) json.Fail("an output without a value");
  return output;
}

// Whether it uses only values before `end`.
bool IsBefore(const GraphArgument& argument, size_t end) {
  if (argument.kind == Kind::kValue) {
    return static_cast<uint64_t>(argument.whole) < end;
  }
  for (const GraphArgument& item : argument.items) {
    if (!IsBefore(item, end)) return false;
  }
  return true;
}

// Numbers all values.
absl::Status Connect(Graph& graph) {
  graph.values = graph.inputs.size();
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    GraphNode& node = graph.nodes[i];
    node.first_result = graph.values;
    const auto check = [&](const GraphArgument& argument) {
      if (IsBefore(argument, graph.values)) return absl::OkStatus();
      return absl::DataLossError(absl::StrCat(
          NodeName(graph, i), ": uses a value that is not computed before it"));
    };
    for (const GraphArgument& argument : node.args) {
      if (absl::Status bad = check(argument); !bad.ok()) return bad;
    }
    for (const auto& [name, argument] : node.kwargs) {
      if (absl::Status bad = check(argument); !bad.ok()) return bad;
    }
    graph.values += node.results;
  }
  if (graph.outputs.empty()) return absl::DataLossError("there is no output");
  for (const GraphOutput& output : graph.outputs) {
    if (output.value < graph.values) continue;
    return absl::DataLossError(absl::StrCat("output ", QuotedName(output.name),
                                            ": its value is never computed"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string NodeName(const Graph& graph, size_t node) {
  const GraphNode& named = graph.nodes[node];
  const auto plain = [](std::string_view name) {
    constexpr size_t kShown = 100;
    return absl::CHexEscape(
        absl::string_view(name.data(), std::min(name.size(), kShown)));
  };
  std::string text = absl::StrCat("node ", node, " (", plain(named.op));
  if (!named.overload.empty()) {
    absl::StrAppend(&text, ".", plain(named.overload));
  }
  if (!named.module.empty()) {
    absl::StrAppend(&text, " in ", plain(named.module));
  }
  return text + ")";
}

absl::StatusOr<std::vector<GraphInput>> ParseGraphInputs(
    std::string_view text) {
  JsonReader json(text);
  std::vector<GraphInput> inputs;
  ReadArray(json, [&] { inputs.push_back(ReadInput(json)); });
  json.End();
  if (!json.ok()) return json.status();
  return inputs;
}

absl::StatusOr<Graph> ParseGraph(std::string_view text) {
  JsonReader json(text);
  Graph graph;
  ReadObject(json, [&](const std::string& key) {
    if (key == "inputs") {
      ReadArray(json, [&] { graph.inputs.push_back(ReadInput(json)); });
    } else if (key == "nodes") {
      ReadArray(json, [&] { graph.nodes.push_back(ReadNode(json)); });
    } else if (key == "outputs") {
      ReadArray(json, [&] { graph.outputs.push_back(ReadOutput(json)); });
    } else {
      return false;
    }
    return true;
  });
  json.End();
  if (!json.ok()) return json.status();
  if (absl::Status bad = Connect(graph); !bad.ok()) return bad;
  return graph;
}

}  // namespace trainyard
