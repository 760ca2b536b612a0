"""Writes the optimizer states that C++ tests go on from, or checks them and goes on in Python.

    pip install safetensors==0.8.0 numpy torch==2.13.0     # in an environment of its own
    python tools/convert/optimizer_state_golden.py write trainer/checkpoint/testdata
    python tools/convert/optimizer_state_golden.py check trainer/checkpoint/testdata

For each case: <case>_before.{safetensors,json}, the state after UPDATES updates;
<case>_after.{safetensors,json}, after as many again; <case>_model.safetensors, the parameters at
both times. The C++ test goes from before to after and writes the same file to the byte; `check`
imports that file into a new optimizer, makes UPDATES more updates and compares with an optimizer
that was never interrupted, bit for bit.
"""

import os
import sys

import torch
from safetensors.torch import load_file, save_file

from optimizer_state import export_state, import_state, load, save

UPDATES = 5
SHAPES = {"body.weight": (3, 4), "body.bias": (37,), "head/weight": (2, 3, 2), "head.unused": (3,)}
CASES = {
    "adamw": lambda groups: torch.optim.AdamW(
        groups, lr=0.01, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.02, fused=True
    ),
    "adamw_amsgrad": lambda groups: torch.optim.AdamW(groups, lr=0.003, amsgrad=True, fused=True),
    "sgd": lambda groups: torch.optim.SGD(
        groups, lr=0.1, momentum=0.9, dampening=0.25, weight_decay=0.01, fused=True
    ),
    "sgd_nesterov": lambda groups: torch.optim.SGD(groups, lr=0.1, momentum=0.8, nesterov=True, fused=True),
}


def numbers(shape, seed):
    """Numbers that C++ makes alike: each is a fraction that float holds exactly."""
    count = torch.Size(shape).numel()
    values = [((i * 7919 + seed * 104729) % 1009 - 504) / 512 for i in range(count)]
    return torch.tensor(values, dtype=torch.float32).reshape(shape)


def make(case):
    """Parameters, and an optimizer over two groups of them, the second with an lr of its own."""
    params = {name: numbers(shape, 1000 + i).requires_grad_() for i, (name, shape) in enumerate(SHAPES.items())}
    named = list(params.items())
    return params, CASES[case]([{"params": named[:2]}, {"params": named[2:], "lr": 0.0625}])


def update(params, optimizer, first, count):
    for step in range(first, first + count):
        for i, (name, param) in enumerate(params.items()):
            # One never has a gradient, and one misses the first.
            if name != "head.unused" and not (name == "head/weight" and step == 0):
                param.grad = numbers(param.shape, 10 * step + i)
        optimizer.step()


def exported(params, optimizer, updates):
    tensors, settings = export_state(optimizer.state_dict(), model=params, updates=updates)
    if "head/weight/momentum_buffer" in tensors:
        # The script cannot know that this one missed an update.
        tensors["head/weight/step"] -= 1
    return tensors, settings


def write(case, folder):
    params, optimizer = make(case)
    model = {}
    for time, updates in (("before", UPDATES), ("after", 2 * UPDATES)):
        update(params, optimizer, updates - UPDATES, UPDATES)
        save(os.path.join(folder, f"{case}_{time}"), *exported(params, optimizer, updates))
        model.update({f"{time}/{name}": param.detach().clone() for name, param in params.items()})
    save_file(model, os.path.join(folder, f"{case}_model.safetensors"))


def equal(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.numpy().tobytes() == b.numpy().tobytes()


def check(case, folder):
    params, optimizer = make(case)
    update(params, optimizer, 0, 3 * UPDATES)
    others, other = make(case)
    other.load_state_dict(import_state(*load(os.path.join(folder, f"{case}_after"))))
    model = load_file(os.path.join(folder, f"{case}_model.safetensors"))
    with torch.no_grad():
        for name, param in others.items():
            param.copy_(model["after/" + name])
    update(others, other, 2 * UPDATES, UPDATES)
    wanted, _ = exported(params, optimizer, 0)
    found, _ = exported(others, other, 0)
    same = wanted.keys() == found.keys() and all(equal(wanted[key], found[key]) for key in wanted)
    same = same and all(equal(params[name].detach(), others[name].detach()) for name in params)
    print(f"{case}: {len(wanted)} tensors of state and {len(params)} parameters", "equal" if same else "DIFFERENT")
    return same


def main():
    command, folder = sys.argv[1:]
    torch.set_num_threads(1)
    if command == "write":
        for case in CASES:
            write(case, folder)
    elif command == "check":
        sys.exit(0 if all([check(case, folder) for case in CASES]) else 1)
    else:
        sys.exit(f"unknown command {command}")


main()
