#!/usr/bin/env python3
"""Writes trainer/optim/testdata: what Python's optimizers make of known problems.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.13.0 numpy
    /tmp/golden/bin/pip install --no-deps timm==1.0.30
    /tmp/golden/bin/python tools/golden/optimizers.py trainer/optim/testdata

A problem is a quadratic with noise, drawn from an integer generator that
trainer/optim/testing/optimizer_testing.cc repeats: 200 updates over two groups, with a
learning rate that falls and one parameter that now and then has no gradient.
One file per optimizer holds, for each case, the problem's shapes, the second
group's overrides, the parameters after some updates, and the state at the end.
"""

import importlib
import importlib.util
import pathlib
import sys
import types
import unittest.mock

import torch


def timm_class(module, name):
    """One of timm's optimizers, without the models that importing timm brings in."""
    if "timm" not in sys.modules:
        root = pathlib.Path(importlib.util.find_spec("timm").origin).parent
        for package, folder in (("timm", root), ("timm.optim", root / "optim")):
            sys.modules[package] = types.ModuleType(package)
            sys.modules[package].__path__ = [str(folder)]
    return getattr(importlib.import_module(f"timm.optim.{module}"), name)


UPDATES = 200
CHECKPOINTS = (1, 20, 200)
# Name, group, shape.
MIXED = [("a", 0, (4, 3)), ("b", 0, (5,)), ("c", 1, (2, 4)), ("d", 1, (3,))]
MATRICES = [("a", 0, (4, 3)), ("b", 0, (3, 3)), ("c", 1, (2, 4)), ("d", 1, (3, 2))]


class Generator:
    """Multiples of 2**-24 in [-0.5, 0.5): exact in float32 and float64."""

    def __init__(self):
        self.state = 1

    def tensor(self, shape, dtype):
        values = []
        for _ in range(torch.Size(shape).numel()):
            self.state = (self.state * 1664525 + 1013904223) % 2**32
            values.append((self.state >> 8) / 2**24 - 0.5)
        return torch.tensor(values, dtype=torch.float64).reshape(shape).to(dtype)


def numbers(tensor):
    digits = 9 if tensor.dtype == torch.float32 else 17
    values = tensor.detach().double().reshape(-1).tolist()
    return " ".join(f"{value:.{digits}g}" for value in values)


def run(make, shapes, second, options, dtype, skips):
    """Yields the lines of one case."""
    generator = Generator()
    problem = []
    for name, group, shape in shapes:
        start, target, curvature = (generator.tensor(shape, dtype) for _ in range(3))
        problem.append((name, group, start.requires_grad_(), target, curvature + 1))
    groups = [{"params": [p[2] for p in problem if p[1] == g]} for g in (0, 1)]
    groups[1].update(second)
    optimizer = make(groups, **options)
    base = [group["lr"] for group in optimizer.param_groups]
    for update in range(UPDATES):
        for lr, group in zip(base, optimizer.param_groups):
            group["lr"] = lr * (1 - update / 400)
        for name, _, param, target, curvature in problem:
            noise = generator.tensor(param.shape, dtype) * 0.25
            gradient = (param.detach() - target) * curvature + noise
            absent = skips and name == "d" and update % 7 == 3
            param.grad = None if absent else gradient
        optimizer.step()
        if update + 1 in CHECKPOINTS:
            for name, _, param, _, _ in problem:
                yield f"at {update + 1} {name} {numbers(param)}"
    for name, _, param, _, _ in problem:
        for key, value in sorted(optimizer.state[param].items()):
            if torch.is_tensor(value):
                yield f"state {name}/{key} {numbers(value)}"


def in_full_precision(make):
    """Muon without its detour through bfloat16, whose rounding differs by machine."""

    def made(groups, **options):
        optimizer = make(groups, **options)
        step = optimizer.step

        def exact_step():
            with unittest.mock.patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone):
                step()

        optimizer.step = exact_step
        return optimizer

    return made


DECAYED = {"lr": 0.02, "weight_decay": 0.1}
BETAS = {"lr": 0.01, "betas": (0.8, 0.99), "eps": 1e-6}


def fused(kind):
    return lambda groups, **options: kind(groups, fused=True, **options)


def foreach(kind):
    return lambda groups, **options: kind(groups, foreach=True, **options)


def cases():
    """Yields (file, case, make, options, second group's overrides, shapes, skips)."""

    def case(file, name, make, options, second=None, shapes=MIXED, skips=True):
        return file, name, make, options, second or DECAYED, shapes, skips

    o = torch.optim
    for kind, file in ((o.Adam, "adam"), (o.AdamW, "adamw")):
        yield case(file, "plain", fused(kind), {**BETAS, "weight_decay": 0.02})
        yield case(file, "amsgrad", fused(kind), {**BETAS, "amsgrad": True})
    sgd = {"lr": 0.05, "weight_decay": 0.01}
    yield case("sgd", "plain", fused(o.SGD), sgd)
    yield case("sgd", "momentum", fused(o.SGD), {**sgd, "momentum": 0.9})
    yield case("sgd", "nesterov", fused(o.SGD), {**sgd, "momentum": 0.8, "nesterov": True})
    yield case("sgd", "dampening", fused(o.SGD), {**sgd, "momentum": 0.9, "dampening": 0.4})
    yield case("adagrad", "plain", fused(o.Adagrad), {"lr": 0.1})
    yield case("adagrad", "decay", fused(o.Adagrad),
               {"lr": 0.1, "lr_decay": 0.01, "weight_decay": 0.01, "eps": 1e-6,
                "initial_accumulator_value": 0.2})
    rms = {"lr": 0.01, "alpha": 0.9, "eps": 1e-6}
    yield case("rmsprop", "plain", foreach(o.RMSprop), rms)
    yield case("rmsprop", "momentum", foreach(o.RMSprop), {**rms, "momentum": 0.7})
    yield case("rmsprop", "centered", foreach(o.RMSprop),
               {**rms, "momentum": 0.5, "centered": True})
    yield case("adadelta", "plain", foreach(o.Adadelta), {"lr": 0.7, "rho": 0.8, "eps": 1e-5})
    yield case("adamax", "plain", foreach(o.Adamax), {**BETAS, "weight_decay": 0.02})
    for kind, file in ((o.NAdam, "nadam"), (o.RAdam, "radam")):
        yield case(file, "plain", foreach(kind), {**BETAS, "weight_decay": 0.02})
        yield case(file, "decoupled", foreach(kind),
                   {**BETAS, "weight_decay": 0.02, "decoupled_weight_decay": True})
    # Its foreach form computes the steps in float32.
    yield case("asgd", "plain", o.ASGD, {"lr": 0.05, "weight_decay": 0.01})
    yield case("asgd", "averaging", o.ASGD,
               {"lr": 0.05, "lambd": 0.01, "alpha": 0.6, "t0": 50})
    yield case("rprop", "plain", foreach(o.Rprop), {"lr": 0.02}, second={"lr": 0.05})
    yield case("rprop", "limits", foreach(o.Rprop),
               {"lr": 0.02, "etas": (0.4, 1.3), "step_sizes": (1e-3, 0.1)}, second={"lr": 0.05})
    yield case("lion", "plain", timm_class("lion", "Lion"), {"lr": 0.003, "betas": (0.8, 0.95)})
    # timm counts the updates of a whole group, with or without gradients.
    Lamb = timm_class("lamb", "Lamb")
    lamb = {**BETAS, "max_grad_norm": None}
    yield case("lamb", "plain", Lamb, lamb, skips=False)
    yield case("lamb", "clipped", Lamb, {**lamb, "trust_clip": True}, skips=False)
    yield case("lamb", "adapted", Lamb,
               {**lamb, "weight_decay": 0, "always_adapt": True}, skips=False)
    yield case("adafactor", "plain", o.Adafactor, {"lr": 0.03})
    yield case("adafactor", "decay", o.Adafactor,
               {"lr": 0.5, "beta2_decay": -0.6, "eps": (1e-5, 0.01), "d": 1.5,
                "weight_decay": 0.02})
    muon = {"lr": 0.02, "weight_decay": 0.05}
    exact = in_full_precision(o.Muon)
    yield case("muon", "plain", exact, {**muon, "nesterov": False}, shapes=MATRICES)
    yield case("muon", "nesterov", exact, muon, shapes=MATRICES)
    yield case("muon", "rms", exact,
               {**muon, "adjust_lr_fn": "match_rms_adamw", "momentum": 0.8, "ns_steps": 3},
               shapes=MATRICES)
    yield case("muon", "bfloat16", o.Muon, muon, shapes=MATRICES)


def lbfgs(options):
    """Yields the lines of one case: a valley that trainer/optim/lbfgs_test.cc has too."""
    point = torch.tensor([-1.2, 1.0, 0.5, -0.5, 0.25, 0.75], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([point], **options)

    def closure():
        point.grad = None
        x, following = point[:5], point[1:]
        loss = (10 * (following - x.square()).square() + (x - 1).square()).sum()
        loss.backward()
        return loss

    for update in range(1, UPDATES + 1):
        optimizer.step(closure)
        if update in (1, 2, 4, 12, 50, UPDATES):
            yield f"at {update} x {numbers(point)}"


def lbfgs_lines():
    for name, options in (
        ("plain", {"lr": 0.02, "max_iter": 4, "history_size": 5}),
        ("wolfe", {"max_iter": 4, "line_search_fn": "strong_wolfe"}),
    ):
        yield f"case {name} float64"
        yield from lbfgs(options)


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    files = {}
    for file, name, make, options, second, shapes, skips in cases():
        lines = files.setdefault(file, ["# Written by tools/golden/optimizers.py."])
        for dtype in (torch.float64, torch.float32):
            lines.append(f"case {name} {str(dtype).split('.')[1]}")
            lines.append(f"skips {int(skips)}")
            for param, group, shape in shapes:
                lines.append(f"param {param} {group} {' '.join(map(str, shape))}")
            for key, value in second.items():
                lines.append(f"override {key} {value!r}")
            lines.extend(run(make, shapes, second, options, dtype, skips))
    files["lbfgs"] = ["# Written by tools/golden/optimizers.py.", *lbfgs_lines()]
    folder.mkdir(parents=True, exist_ok=True)
    for file, lines in files.items():
        (folder / f"{file}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
