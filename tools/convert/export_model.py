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
import pathlib
import shlex
import sys

import torch
from safetensors.torch import save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from compile_step import CannotCompile, compile_step  # noqa: E402
from export_graph import CannotExport, Writer  # noqa: E402

FORMAT = "1"


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
