"""Runs Python's schedulers and writes down what they did.

A case is (name, settings, sequences), as golden_text.write takes it. Half of torch's schedulers
compute a value from the one before. Such a recursion gathers rounding; where it has strayed from
torch's own closed form by more than DRIFT of the base value, the closed form is written instead,
and the case says so.
"""

import importlib
import importlib.util
import sys
import types

import torch

STEPS = 500
DRIFT = 1e-13


def optimizer_of(base):
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=base, momentum=0.9)


def values_of(make, base, field="lr", steps=STEPS):
    """The field's value before each of `steps` updates, and torch's closed form of it."""
    optimizer = optimizer_of(base)
    scheduler = make(optimizer)
    values, closed = [], []
    for _ in range(steps):
        values.append(optimizer.param_groups[0][field])
        if hasattr(scheduler, "_get_closed_form_lr"):
            closed.append(scheduler._get_closed_form_lr()[0])
        optimizer.step()
        scheduler.step()
    return values, closed


def case_of(name, base, make, field="lr", reference_base=None, **settings):
    """A case whose configured value in C++ is `base`; Python may start elsewhere."""
    values, closed = values_of(make, base if reference_base is None else reference_base, field)
    form = "stepped"
    if closed:
        drift = max(abs(a - b) for a, b in zip(values, closed)) / base
        if drift > DRIFT:
            form, values = "closed", closed
            print("  %s: stepping drifts by %.1e of the base, closed form written" % (name, drift))
    return name, dict(base=base, **settings, form=form), {"values": values}


def timm_module(module):
    """A module of timm.scheduler, without timm's models and what they import."""
    if "timm" not in sys.modules:
        package = types.ModuleType("timm")
        package.__path__ = list(importlib.util.find_spec("timm").submodule_search_locations)
        sys.modules["timm"] = package
    return importlib.import_module("timm.scheduler." + module)


def timm_case(name, base, make, **settings):
    optimizer = optimizer_of(base)
    scheduler = make(optimizer)
    values = []
    for n in range(STEPS):
        scheduler.step_update(n)
        values.append(optimizer.param_groups[0]["lr"])
    return name, dict(base=base, **settings), {"values": values}
