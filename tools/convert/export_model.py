#!/usr/bin/env python3
"""Exports a PyTorch module for training in C++: both graphs (training, evaluation) and the weights go into one file.

    python3 -m venv /tmp/export
    /tmp/export/bin/pip install torch==2.13.0 safetensors==0.8.0 numpy
    /tmp/export/bin/python tools/convert/export_model.py my_package.my_module:make_model --out=net.safetensors
    /tmp/export/bin/python tools/convert/export_model.py net.py:make_model --out=net.safetensors --dynamic=tokens:0,1

`make_model` takes no arguments and returns (module, inputs). `inputs` is a tuple of positional arguments or a dict of
keyword arguments of forward(), with example tensors. Dimension 0 of every tensor may have any size in C++ (the batch);
--dynamic=NAME:DIM,DIM names other dimensions instead, for one input. Example sizes of such dimensions must be at least 2.
--dynamic=NAME: says that no dimension of this input varies.

    /tmp/export/bin/python tools/convert/export_model.py net.py:make_model --out=net.safetensors --compile=cross_entropy

also writes net.pt2: loss and gradients of a training step, compiled to one library for this machine's processor (needs g++). It
takes the example's batch size; --compile_any_batch makes one for any batch size, which is a little slower. The loss is cross_entropy,
mse, or file.py:function, a function of the first output and the targets; for that make_model returns (module, inputs, targets).

trainer/exported/README.md describes the files, and what cannot be exported.
"""

import argparse
import importlib
import importlib.util
import inspect
import json
import math
import operator
import pathlib
import shlex
import sys

import torch
from safetensors.torch import save_file
from torch.export.graph_signature import InputKind, OutputKind

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from compile_step import CannotCompile, compile_step  # noqa: E402

FORMAT = "1"

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


def named(function):
    """The function named by `package.module:function` or `file.py:function`."""
    place, _, name = function.rpartition(":")
    if not place:
        raise CannotExport("%s: expected package.module:function or file.py:function" % function)
    try:
        if place.endswith(".py"):
            spec = importlib.util.spec_from_file_location(pathlib.Path(place).stem, place)
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(place)
        return getattr(module, name)
    except (ImportError, FileNotFoundError, AttributeError) as error:
        raise CannotExport("%s: %s" % (function, error)) from error


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


def dynamic_dimensions(module, args, kwargs, chosen):
    """What torch.export takes as dynamic_shapes: for every tensor of the inputs, its dimensions of any size."""
    bound = inspect.signature(module.forward).bind(*args, **kwargs).arguments
    unknown = sorted(set(chosen) - set(bound))
    if unknown:
        raise CannotExport("--dynamic=%s: forward() has no such input; there are %s" % (unknown[0], ", ".join(bound)))

    def of(name, tensor):
        if not isinstance(tensor, torch.Tensor):
            return None
        dims = chosen.get(name, [0] if tensor.dim() > 0 else [])
        for dim in dims:
            if not 0 <= dim < tensor.dim():
                raise CannotExport("input %s has %d dimensions; there is no dimension %d" % (name, tensor.dim(), dim))
            if tensor.shape[dim] < 2:
                raise CannotExport("input %s: the example's size in dimension %d is %d. Give one of at least 2: export takes 0 and 1 for "
                                   "sizes that never change (or --dynamic=%s: if it never does)" % (name, dim, tensor.shape[dim], name))
        return {dim: torch.export.Dim.DYNAMIC for dim in dims}

    return {name: torch.utils._pytree.tree_map(lambda leaf, name=name: of(name, leaf), value) for name, value in bound.items()}


def export_graph(module, args, kwargs, dynamic, mode):
    module.train(mode == "train")
    try:
        return torch.export.export(module, args, kwargs, dynamic_shapes=dynamic, strict=False)
    except Exception as error:  # of many kinds
        text = str(error).strip() or type(error).__name__
        hint = ""
        if "DataDependent" in type(error).__name__ or "data-dependent" in text.lower():
            hint = " Something in forward() depends on the values of a tensor (an if, item(), nonzero(), a mask as index)."
        elif "onstraint" in text or "specializ" in text:
            hint = " A size that should vary is fixed by the model: choose other dimensions with --dynamic."
        raise CannotExport("torch.export refuses the %s graph.%s It says: %s" %
                           ({"train": "training", "eval": "evaluation"}[mode], hint, text[:2000])) from error


def state_of(module):
    """The module's tensors, each once, and the names of those that have several."""
    state = {"parameters": [], "buffers": [], "constants": [], "tied": []}
    tensors, names, first = {}, {}, {}

    def add(name, tensor):
        names[name] = first.setdefault(id(tensor), name)
        if names[name] != name:
            state["tied"].append({"name": name, "to": names[name]})
        else:
            tensors[name] = tensor.detach().cpu().clone().contiguous()
        return names[name] == name

    for name, tensor in module.named_parameters(remove_duplicate=False):
        if add(name, tensor):
            state["parameters"].append({"name": name, "trained": tensor.requires_grad})
    persistent = module.state_dict(keep_vars=True).keys()
    for name, tensor in module.named_buffers(remove_duplicate=False):
        if add(name, tensor):
            state["buffers"].append({"name": name, "saved": name in persistent})
    extra = [name for name in persistent if name not in names]
    if extra:
        raise CannotExport("the module's state has %s, which is neither a parameter nor a buffer" % extra[0])
    return state, tensors, names


def export_model(module, inputs, path, dynamic=None):
    """Writes `module` to `path`. `dynamic`: {input name: [dimension of any size, ...]} where it is not [0]."""
    args, kwargs = ((), inputs) if isinstance(inputs, dict) else (tuple(inputs), {})
    training = module.training
    state, tensors, names = state_of(module)
    shapes = dynamic_dimensions(module, args, kwargs, dynamic or {})
    texts = {}
    for mode in ["train", "eval"]:
        program = export_graph(module, args, kwargs, shapes, mode)
        constants = {}
        for name, tensor in program.constants.items():
            if name not in names and isinstance(tensor, torch.Tensor):
                constants[name] = "constant.%s.%d" % (mode, len(constants))
                if constants[name] in tensors:
                    raise CannotExport("a parameter is called %s; rename it" % constants[name])
                tensors[constants[name]] = tensor.detach().cpu().clone().contiguous()
                state["constants"].append(constants[name])
        texts[mode] = Writer(program, names, constants).write()
    module.train(training)
    save_file(tensors, str(path), {
        "format": "pt", "trainyard.exported": FORMAT, "trainyard.torch": torch.__version__,
        "trainyard.state": compact(state), "trainyard.train": compact(texts["train"]), "trainyard.eval": compact(texts["eval"])})
    return texts


def compact(value):
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def dynamic_flag(text):
    name, colon, dims = text.partition(":")
    if not colon or not all(dim.isdigit() for dim in dims.split(",") if dims):
        raise argparse.ArgumentTypeError("expected NAME:DIM,DIM, e.g. tokens:0,1")
    return name, [int(dim) for dim in dims.split(",")] if dims else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("function", help="package.module:function or file.py:function")
    parser.add_argument("--out", required=True, help="the file to write, e.g. net.safetensors")
    parser.add_argument("--dynamic", action="append", default=[], type=dynamic_flag, metavar="NAME:DIMS")
    parser.add_argument("--compile", metavar="LOSS", help="also compile a training step: cross_entropy, mse, or file.py:function")
    parser.add_argument("--compile_any_batch", action="store_true", help="compile the step for batches of any size")
    parser.add_argument("--march", default="native", help="the processor to compile for: native, or x86-64-v3 for any with AVX2")
    parser.add_argument("--threads", type=int, help="how many threads the compiled step uses; otherwise as many as PyTorch does here")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    compiled = str(pathlib.Path(options.out).with_suffix(".pt2"))
    try:
        made = named(options.function)()
        if not isinstance(made, tuple) or len(made) not in (2, 3) or not isinstance(made[0], torch.nn.Module):
            raise CannotExport("%s must return (module, example inputs)" % options.function)
        module, inputs, *targets = made
        texts = export_model(module, inputs, options.out, dict(options.dynamic))
        if options.compile:
            loss = named(options.compile) if ":" in options.compile else options.compile
            command = "python " + shlex.join(sys.argv)
            compile_step(module, inputs, targets[0] if targets else None, loss, compiled, command, options.compile_any_batch, options.march)
    except (CannotExport, CannotCompile) as error:
        print("export_model: %s" % error, file=sys.stderr)
        return 1
    for mode, name in [("train", "training"), ("eval", "evaluation")]:
        nodes = texts[mode]["nodes"]
        print("%s graph: %d nodes of %d kinds" % (name, len(nodes), len({node["op"] for node in nodes})))
    print("%s: written" % options.out)
    if options.compile:
        print("%s: written" % compiled)
    return 0


if __name__ == "__main__":
    sys.exit(main())
