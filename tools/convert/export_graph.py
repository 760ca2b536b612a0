"""One graph of torch.export as trainer/exported reads it; trainer/exported/README.md describes the text. For export_model.py."""

import math
import operator

import torch
from torch.export.graph_signature import InputKind, OutputKind

# Checks that export adds. In C++ the inputs are checked instead.
_CHECKS = {
    "aten::_assert_scalar", "aten::_assert_async", "aten::_assert_tensor_metadata", "aten::sym_constrain_range",
    "aten::sym_constrain_range_for_size", "aten::_check_is_size",
}
# These change their arguments, though their schemas do not say so.
_MUTATING = {"aten::batch_norm", "aten::instance_norm", "aten::native_batch_norm", "aten::cudnn_batch_norm"}

# Arithmetic with sizes.
_SYMBOLIC = {
    operator.add: "sym::add", operator.sub: "sym::sub", operator.mul: "sym::mul", operator.floordiv: "sym::floordiv",
    operator.mod: "sym::mod", operator.truediv: "sym::truediv", operator.neg: "sym::neg", operator.eq: "sym::eq",
    operator.ne: "sym::ne", operator.lt: "sym::lt", operator.le: "sym::le", operator.gt: "sym::gt", operator.ge: "sym::ge",
    math.trunc: "sym::int", torch.sym_float: "sym::float", torch.sym_int: "sym::int", torch.sym_max: "sym::max",
    torch.sym_min: "sym::min",
}
_SIZES = {"aten::sym_size.int": "sym::size", "aten::sym_numel.default": "sym::numel"}


class CannotExport(Exception):
    """What cannot be exported, and why."""


def dtype_name(dtype):
    return str(dtype).removeprefix("torch.")


def operator_name(target):
    return "%s.%s" % (target._schema.name, target._overloadname)


class Writer:
    """One graph of torch.export as the C++ reader takes it: values are numbered in the order in which they appear."""

    def __init__(self, program, names, constants):
        self.program = program
        self.names = names  # of a tied parameter or buffer: the name it is stored under
        self.constants = constants  # of a constant: the name it is stored under
        self.values = 0
        self.nodes = []
        self.inputs = []
        self.outputs = []

    def write(self):
        signature = self.program.graph_signature
        specs = {spec.arg.name: spec for spec in signature.input_specs}
        env = {}
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                env[node] = self.add_input(node, specs[node.target if node.target in specs else node.name])
        results = self.add_graph(self.program.graph_module, env, gradients=True)
        for spec, result in zip(signature.output_specs, results):
            if spec.kind == OutputKind.BUFFER_MUTATION:
                place = next(n for n in env if n.name in specs and specs[n.name].target == spec.target)
                self.add_node("aten::copy_", "", [env[place], result], {}, False, "", 1)
        user = [r for s, r in zip(signature.output_specs, results) if s.kind == OutputKind.USER_OUTPUT]
        for name, result in zip(self.output_names(len(user)), user):
            if result is None:
                continue
            if not isinstance(result, Value):
                raise CannotExport("output %s is %r; outputs must be tensors" % (name, result))
            self.outputs.append({"name": name, "value": result.index})
        if not self.outputs:
            raise CannotExport("forward() returns no tensor")
        return {"inputs": self.inputs, "nodes": self.nodes, "outputs": self.outputs}

    def output_names(self, count):
        tree = torch.utils._pytree.tree_unflatten(list(range(count)), self.program.call_spec.out_spec)
        paths, _ = torch.utils._pytree.tree_flatten_with_path(tree)
        keys = [[str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", "")))) for key in path] for path, _ in paths]
        return [".".join(path) or "output" for path in keys]

    def add_input(self, node, spec):
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
            self.inputs.append({"tensor": self.names[spec.target]})
        elif spec.kind == InputKind.CONSTANT_TENSOR:
            self.inputs.append({"tensor": self.constants[spec.target]})
        elif spec.kind == InputKind.USER_INPUT:
            value = node.meta.get("val")
            if not isinstance(value, torch.Tensor):
                return value  # a constant: the graph was made for this value
            self.inputs.append({
                "input": node.name, "dtype": dtype_name(value.dtype), "sizes": [self.size(size) for size in value.shape]})
        else:
            raise CannotExport("the model takes a %s (%s)" % (spec.kind.name.lower(), spec.target))
        return self.new_value()

    def size(self, size):
        """A number, a named size with its limits, or null for a size that follows from others."""
        if isinstance(size, int):
            return size
        expression = size.node.expr
        if not expression.is_Symbol:
            return None
        limits = {"size": str(expression)}
        bounds = self.program.range_constraints.get(expression)
        # Export assumes 2 or more, but a graph computes with 1, too.
        if bounds is not None and bounds.lower.is_Integer and bounds.lower > 2:
            limits["min"] = int(bounds.lower)
        if bounds is not None and bounds.upper.is_Integer:
            limits["max"] = int(bounds.upper)
        return limits

    def new_value(self):
        self.values += 1
        return Value(self.values - 1)

    def add_graph(self, module, env, gradients):
        """Adds the nodes of a graph whose inputs are in `env`; returns its outputs."""
        live = live_nodes(module.graph)
        for node in module.graph.nodes:
            if node.op == "output":
                return torch.utils._pytree.tree_map_only(torch.fx.Node, env.__getitem__, list(node.args[0]))
            if node.op == "get_attr":
                env[node] = getattr(module, node.target)
            if node.op == "call_function" and node in live:
                env[node] = self.call(node, env, gradients)
        raise CannotExport("a graph has no output")

    def call(self, node, env, gradients):
        args, kwargs = torch.utils._pytree.tree_map_only(torch.fx.Node, env.__getitem__, (list(node.args), dict(node.kwargs)))
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        module = stack[-1][0] if stack else ""
        if node.target is operator.getitem:
            if isinstance(args[0], (list, tuple)):
                return args[0][args[1]]
            return self.add_node("list::get", "", args, {}, gradients, module, 1)[0]
        if node.target in _SYMBOLIC:
            return self.add_node(_SYMBOLIC[node.target], "", args, {}, gradients, module, 1)[0]
        name = str(node.target)
        if name == "wrap_with_set_grad_enabled":
            inner = dict(zip((n for n in args[1].graph.nodes if n.op == "placeholder"), args[2:]))
            return self.add_graph(args[1], inner, bool(args[0]))
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            raise CannotExport("%s: the graph has %s, which is not supported: it is control flow or a mode inside the model" %
                               (where(node, module), name))
        if not isinstance(node.target, torch._ops.OpOverload):
            raise CannotExport("%s: the graph calls %s, which is not an operator of ATen" % (where(node, module), name))
        name = node.target._schema.name
        if operator_name(node.target) in _SIZES:
            return self.add_node(_SIZES[operator_name(node.target)], "", args, kwargs, gradients, module, 1)[0]
        if not name.startswith("aten::"):
            raise CannotExport("%s: the graph calls the custom operator %s, which libtorch does not have" % (where(node, module), name))
        returns = node.target._schema.returns
        for item in returns:
            if str(item.type) not in ("Tensor", "List[Tensor]", "int", "SymInt", "float", "bool"):
                raise CannotExport("%s: %s returns a %s: a number that is read from a tensor (item(), tolist(), nonzero()) cannot be exported" %
                                   (where(node, module), name, item.type))
        overload = node.target._overloadname
        results = self.add_node(name, "" if overload == "default" else overload, args, kwargs, gradients, module, len(returns))
        return results[0] if len(results) == 1 else results

    def add_node(self, op, overload, args, kwargs, gradients, module, results):
        node = {"op": op, "args": [encoded(arg, op) for arg in args]}
        if overload:
            node["overload"] = overload
        if kwargs:
            node["kwargs"] = {key: encoded(arg, op) for key, arg in kwargs.items()}
        if not gradients:
            node["gradients"] = False
        if module:
            node["module"] = module.removeprefix("L['self'].")
        if results != 1:
            node["results"] = results
        self.nodes.append(node)
        return [self.new_value() for _ in range(results)]


class Value:
    """A value of the graph: an input, or a result of a node."""

    def __init__(self, index):
        self.index = index


def where(node, module):
    return "node %s%s" % (node.name, " in " + module if module else "")


def live_nodes(graph):
    """Without what has no effect: checks, and results that nobody uses."""
    live = set()
    for node in reversed(graph.nodes):
        if node.op == "output" or any(user in live for user in node.users) or has_effect(node):
            live.add(node)
    return live


def has_effect(node):
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return True
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    name = node.target._schema.name
    if name in _CHECKS:
        return False
    return (node.target._schema.is_mutable or name in _MUTATING or torch.Tag.nondeterministic_seeded in node.target.tags)


def encoded(arg, op):
    if arg is None or isinstance(arg, bool):
        return arg
    if isinstance(arg, Value):
        return {"value": arg.index}
    if isinstance(arg, int):
        return {"int": arg}
    if isinstance(arg, float):
        return {"float": arg if math.isfinite(arg) else str(arg)}
    if isinstance(arg, str):
        return {"text": arg}
    if isinstance(arg, (list, tuple)):
        return {"list": [encoded(item, op) for item in arg]}
    if isinstance(arg, torch.dtype):
        return {"dtype": dtype_name(arg)}
    if isinstance(arg, torch.device):
        return {"device": "model"}  # the example is on the CPU; in C++ it is wherever the model is
    if isinstance(arg, torch.layout) and arg == torch.strided:
        return {"layout": "strided"}
    if isinstance(arg, torch.memory_format):
        return {"memory_format": str(arg).removeprefix("torch.")}
    raise CannotExport("%s has an argument of type %s (%r), which cannot be written" % (op, type(arg).__name__, arg))
