"""Compiles loss and gradients of a module to one library, which trainer/exported/compiled_step.h runs. export_model.py --compile calls it.

The module is traced through torch.autograd.grad: what comes out is one graph of plain operators from parameters, buffers, inputs
and targets to the loss, the outputs, the gradients and the new buffers. Inductor compiles it for this machine's processor.

If all matrix products of the graph are small, they are compiled, too (inline_products): then the library calls no operators, and keeps
its temporary values on the stack.
"""

import inspect
import json
import math
import pathlib
import platform
import subprocess
import tempfile
import zipfile

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F


class CannotCompile(Exception):
    """What cannot be compiled, and why."""


# The losses that have a name: the function, and targets that fit its outputs.
LOSSES = {
    "cross_entropy": (F.cross_entropy, lambda y: torch.randint(y.shape[1], (y.shape[0], *y.shape[2:]))),
    "mse": (F.mse_loss, torch.zeros_like),
}


def first(outputs):
    """The output that the loss is of."""
    return torch.utils._pytree.tree_leaves(outputs)[0]


# What the kernel calls the features of an architecture of --march.
FEATURES = {
    "x86-64-v3": "abm avx avx2 bmi1 bmi2 cx16 f16c fma movbe popcnt sse4_1 sse4_2 ssse3".split(),
}


def cpu_features(march):
    """What a processor must have. `native`: what the kernel says of this one; a library may use all of it."""
    if march != "native":
        if march not in FEATURES:
            raise CannotCompile("--march=%s: there are native, %s" % (march, ", ".join(FEATURES)))
        return FEATURES[march]
    if platform.machine() not in ("x86_64", "AMD64", "aarch64"):
        raise CannotCompile("no way is known to tell processors of kind %s apart" % platform.machine())
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            if key.strip() in ("flags", "Features"):
                return sorted(value.split())
    raise CannotCompile("/proc/cpuinfo does not list the processor's features")


class Step:
    """What is compiled: a function of lists of tensors."""

    def __init__(self, module, inputs, loss):
        self.module = module
        self.loss = loss
        self.positional = not isinstance(inputs, dict)
        self.input_names = (list(inspect.signature(module.forward).bind(*inputs).arguments) if self.positional else list(inputs))
        parameters = dict(module.named_parameters())
        self.trained = [name for name, tensor in parameters.items() if tensor.requires_grad]
        self.frozen = [name for name, tensor in parameters.items() if not tensor.requires_grad]
        self.buffers = [name for name, _ in module.named_buffers()]

    def __call__(self, trained, others, inputs, targets):
        weights = [tensor.detach().requires_grad_() for tensor in trained]
        # Batch norm writes to them.
        state = [tensor.clone() for tensor in others]
        tensors = dict(zip(self.trained + self.frozen + self.buffers, weights + state))
        with torch.enable_grad():
            args, kwargs = (tuple(inputs), {}) if self.positional else ((), dict(zip(self.input_names, inputs)))
            with torch.nn.utils.stateless._reparametrize_module(self.module, tensors, tie_weights=True):
                outputs = self.module(*args, **kwargs)
                # Also those that forward() assigns to.
                present = dict(self.module.named_buffers())
                buffers = [present[name] for name in self.buffers]
            loss = self.loss(first(outputs), *targets)
            if loss.dim() != 0:
                raise CannotCompile("the loss is of shape %s; it must be one number" % (tuple(loss.shape),))
            gradients = torch.autograd.grad(loss, weights, allow_unused=True)
        leaves = [leaf.detach() for leaf in torch.utils._pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor)]
        gradients = [torch.zeros_like(w) if g is None else g for g, w in zip(gradients, weights)]
        return [loss.detach(), *leaves, *gradients, *buffers]


# A matrix product of at most so many multiplications is faster as a loop in the library than as a call of BLAS.
SMALL_PRODUCT = 1 << 18
PRODUCTS = (torch.ops.aten.mm.default, torch.ops.aten.addmm.default, torch.ops.aten.bmm.default)
OTHER_PRODUCTS = (torch.ops.aten.baddbmm.default, torch.ops.aten.convolution.default)


def inline_products(graph):
    """Rewrites all matrix products so that Inductor generates code for them. Changes nothing and returns False if one is large.

    Inductor has a template for products whose right side is not a constant only in batched form, and only for contiguous operands.
    """
    nodes = [node for node in graph.graph.nodes if node.op == "call_function"]
    products = [node for node in nodes if node.target in PRODUCTS]

    def is_small(node):
        left, right = (argument.meta["val"] for argument in node.args[-2:])
        sizes = [*left.shape, right.shape[-1]]
        return (not node.kwargs and left.dtype == torch.float32 and all(isinstance(size, int) and size > 0 for size in sizes)
                and math.prod(sizes) <= SMALL_PRODUCT)

    if not products or any(node.target in OTHER_PRODUCTS for node in nodes) or not all(map(is_small, products)):
        return False
    aten = torch.ops.aten
    for node in products:
        with graph.graph.inserting_before(node):

            def call(target, *args, **kwargs):
                return graph.graph.call_function(target, args, kwargs)

            def operand(value):
                if not value.meta["val"].is_contiguous():
                    batched = call(aten.clone.default, value, memory_format=torch.contiguous_format)
                else:
                    batched = value
                return batched if node.target is aten.bmm.default else call(aten.unsqueeze.default, batched, 0)

            result = call(aten.bmm.default, *(operand(value) for value in node.args[-2:]))
            if node.target is not aten.bmm.default:
                result = call(aten.squeeze.dim, result, 0)
            if node.target is aten.addmm.default:
                result = call(aten.add.Tensor, result, node.args[0])
        node.replace_all_uses_with(result)
        graph.graph.erase_node(node)
    graph.recompile()
    return True


def described(name, tensor, passed, sizes=None):
    """As the inputs of a graph are written; see trainer/exported/README.md."""
    return {"input" if passed else "tensor": name, "dtype": str(tensor.dtype).removeprefix("torch."),
            "sizes": sizes or list(tensor.shape)}


def compile_step(module, inputs, targets, loss, path, command, dynamic_batch=False, march="native"):
    """Writes the library to `path`. `loss` is a name of LOSSES or a function of the first output and the targets."""
    features = cpu_features(march)
    module.train()
    values = list(inputs.values() if isinstance(inputs, dict) else inputs)
    for value in values:
        if not isinstance(value, torch.Tensor):
            raise CannotCompile("an input is a %s; only tensors can be compiled" % type(value).__name__)
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise CannotCompile("there is no loss %s; there are %s, or give file.py:function" % (loss, ", ".join(LOSSES)))
        loss, default_targets = LOSSES[loss]
        if targets is None:
            with torch.no_grad():
                # Batch norm writes to its buffers.
                state = {**dict(module.named_parameters()), **{name: tensor.clone() for name, tensor in module.named_buffers()}}
                outputs = torch.func.functional_call(module, state, *(((), inputs) if isinstance(inputs, dict) else (tuple(inputs),)))
            targets = [default_targets(first(outputs))]
    if targets is None:
        raise CannotCompile("a loss of one's own needs example targets: return (module, inputs, targets)")
    targets = [targets] if isinstance(targets, torch.Tensor) else list(targets)
    step = Step(module, inputs, loss)
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    args = ([state[name].detach() for name in step.trained], [state[name].detach() for name in step.frozen + step.buffers], values, targets)
    names = step.input_names + (["target"] if len(targets) == 1 else ["target%d" % i for i in range(len(targets))])
    batch = values[0].shape[0] if dynamic_batch else None

    def sizes(tensor):
        if not dynamic_batch or tensor.dim() == 0 or tensor.shape[0] != batch:
            return list(tensor.shape)
        return [{"size": "batch", "min": 2}, *tensor.shape[1:]]

    def dynamic(tensor):
        is_batch = dynamic_batch and tensor.dim() > 0 and tensor.shape[0] == batch
        return {0: torch.export.Dim.DYNAMIC} if is_batch else None

    try:
        graph = make_fx(step, tracing_mode="symbolic" if dynamic_batch else "fake", _allow_non_fake_inputs=True)(*args)
        inlined = inline_products(graph)
        shapes = ([None] * len(args[0]), [None] * len(args[1]), [dynamic(t) for t in values], [dynamic(t) for t in targets])
        program = torch.export.export(graph, args, dynamic_shapes=shapes if dynamic_batch else None)
    except CannotCompile:
        raise
    except Exception as error:  # of many kinds
        raise CannotCompile("the step cannot be traced: %s" % (str(error).strip() or type(error).__name__)[:2000]) from error
    count = len(program.graph_signature.user_outputs) - 1 - len(step.trained) - len(step.buffers)
    metadata = {
        "trainyard.step": "1",
        "trainyard.torch": torch.__version__.partition("+")[0],
        "trainyard.cpu": " ".join(features),
        "trainyard.command": command,
        "trainyard.inputs": json.dumps(
            [described(name, state[name], False) for name in step.trained + step.frozen + step.buffers] +
            [described(name, tensor, True, sizes(tensor)) for name, tensor in zip(names, values + targets)]),
        "trainyard.outputs": json.dumps(["output%d" % i for i in range(count)]),
        "trainyard.gradients": json.dumps(step.trained),
        "trainyard.buffers": json.dumps(step.buffers),
    }
    # The program that loads the library has libtorch already; a PyTorch with CUDA would make it ask for its own.
    configs = {"aot_inductor.metadata": metadata, "aot_inductor.link_libtorch": False}
    if march != "native":
        configs.update({"cpp.march": march, "cpp.simdlen": 256})
    if inlined:
        configs.update({"max_autotune": True, "max_autotune_gemm_backends": "CPP", "aot_inductor.allow_stack_allocation": True})
    torch._inductor.aoti_compile_and_package(program, package_path=str(path), inductor_configs=configs)
    shrink(path)


def shrink(path):
    """Leaves out the sources and the symbols: a tenth of the size, and nothing that a run needs."""
    with zipfile.ZipFile(path) as package:
        files = {name: package.read(name) for name in package.namelist() if not name.endswith(".cpp")}
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in sorted(files.items()):
            if name.endswith(".so"):
                library = pathlib.Path(folder, "library.so")
                library.write_bytes(content)
                subprocess.run(["strip", "--strip-unneeded", library], check=False)
                content = library.read_bytes()
            package.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
