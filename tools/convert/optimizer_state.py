"""Carries an optimizer's state between Python and C++.

    pip install safetensors==0.8.0 numpy torch==2.13.0     # in an environment of its own
    python tools/convert/optimizer_state.py export --state_dict=optimizer.pt --out=optimizer
    python tools/convert/optimizer_state.py import --in=optimizer --out=optimizer.pt

`export` reads what torch.save(optimizer.state_dict(), "optimizer.pt") wrote (with weights_only:
no code in it is run) and writes optimizer.safetensors, the state by parameter name, and
optimizer.json, the settings of each group with the names of its parameters. `import` goes back.
In a program of your own: export_state, import_state, save and load below.

Parameters have names if the optimizer was made from model.named_parameters(); otherwise give
them by --names, a file with a name per line in the order of model.parameters().

A tensor is called "<parameter>/<what>", with Python's own names for <what>:

    AdamW, Adam   exp_avg, exp_avg_sq, step, with amsgrad max_exp_avg_sq
    SGD           momentum_buffer if momentum is not 0, and step

Python's SGD counts no steps: it has a buffer or not. C++ needs to know whether there was a first
update, so `step` is written as --updates says (1 if it is not given) where there is a buffer,
and as 0 where there is none; `import` leaves it out, with buffers of step 0. A parameter that
never had a gradient has no state in Python and zeros in C++; `export` takes its shape from
--model, a safetensors file of the model.
"""

import argparse
import json
import sys

import torch
from safetensors.torch import load_file, save_file

FORMAT = "trainyard-optimizer-1"


def _is_sgd(group):
    return "nesterov" in group and "dampening" in group


def _names(state_dict, names):
    """Parameter names by the numbers that the state dict has for them."""
    by_index = {}
    for group in state_dict["param_groups"]:
        given = names if names is not None else group.get("param_names")
        if given is None:
            raise ValueError("the optimizer was not made from named parameters: give their names")
        for place, index in enumerate(group["params"]):
            by_index[index] = given[index if names is not None else place]
    if names is not None and len(names) != len(by_index):
        raise ValueError(f"there are {len(names)} names for {len(by_index)} parameters")
    if len(set(by_index.values())) != len(by_index):
        raise ValueError("two parameters have the same name")
    return by_index


def _setting(key, value):
    if isinstance(value, torch.Tensor):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return [_setting(key, item) for item in value]
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise ValueError(f"setting {key} is {value!r}, which JSON has not")
    return value


def export_state(state_dict, names=None, model=None, updates=None):
    """The tensors and the settings of an optimizer's state_dict().

    names: the parameters' names, if they are not in it. model: tensors by name, for parameters
    that have no state yet. updates: how many updates SGD has made.
    """
    by_index = _names(state_dict, names)
    state = state_dict["state"]
    # What a parameter without state would have: as others, or as the parameter itself.
    kinds = {}
    for entry in state.values():
        for what, value in entry.items():
            if value is not None:
                kinds[what] = torch.is_tensor(value) and value.dim() > 0
    tensors, groups = {}, []
    for group in state_dict["param_groups"]:
        for index in group["params"]:
            name, entry = by_index[index], dict(state.get(index, {}))
            if _is_sgd(group):
                entry["step"] = 0
                if entry.get("momentum_buffer") is not None:
                    entry["step"] = 1 if updates is None else updates
                elif group["momentum"] != 0:
                    entry["momentum_buffer"] = _zeros(model, name)
            elif not entry:
                entry = {what: _zeros(model, name) if like else 0 for what, like in kinds.items()}
            for what, value in entry.items():
                if value is None:
                    continue
                if not torch.is_tensor(value):
                    value = torch.tensor(value, dtype=torch.float32)
                tensors[f"{name}/{what}"] = value.detach().cpu().contiguous()
        settings = {key: _setting(key, value) for key, value in group.items() if key not in ("params", "param_names")}
        groups.append({"params": [by_index[index] for index in group["params"]], **settings})
    return tensors, {"format": FORMAT, "param_groups": groups}


def _zeros(model, name):
    if model is None or name not in model:
        raise ValueError(f"parameter {name} has no state yet: give the model for its shape")
    return torch.zeros_like(model[name])


def import_state(tensors, settings):
    """A state_dict() for optimizer.load_state_dict from tensors by name and settings."""
    if settings.get("format") != FORMAT:
        raise ValueError(f"the settings are of format {settings.get('format')!r}, not {FORMAT!r}")
    # A parameter's name may itself have a "/".
    by_name = {}
    for key, tensor in tensors.items():
        name, _, what = key.rpartition("/")
        by_name.setdefault(name, {})[what] = tensor
    state, groups = {}, []
    for group in settings["param_groups"]:
        names = group["params"]
        indices = list(range(len(state), len(state) + len(names)))
        for index, name in zip(indices, names):
            entry = by_name.pop(name, {})
            if _is_sgd(group) and entry.pop("step", 0) == 0:
                entry = {}
            state[index] = entry
        betas = {"betas": tuple(group["betas"])} if "betas" in group else {}
        groups.append({**group, **betas, "params": indices, "param_names": names})
    if by_name:
        raise ValueError(f"state of parameters that are in no group: {', '.join(sorted(by_name))}")
    return {"state": {index: entry for index, entry in state.items() if entry}, "param_groups": groups}


def save(prefix, tensors, settings):
    save_file(tensors, prefix + ".safetensors")
    with open(prefix + ".json", "w", encoding="utf-8") as file:
        json.dump(settings, file, indent=1, allow_nan=False)
        file.write("\n")


def load(prefix):
    with open(prefix + ".json", encoding="utf-8") as file:
        return load_file(prefix + ".safetensors"), json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    export = commands.add_parser("export", help="Python -> C++")
    export.add_argument("--state_dict", required=True, help="what torch.save wrote")
    export.add_argument("--out", required=True, help="prefix of the .safetensors and .json to write")
    export.add_argument("--names", help="file of parameter names, a line each")
    export.add_argument("--model", help="safetensors file of the model")
    export.add_argument("--updates", type=int, help="how many updates SGD has made")
    back = commands.add_parser("import", help="C++ -> Python")
    back.add_argument("--in", dest="prefix", required=True, help="prefix of the .safetensors and .json to read")
    back.add_argument("--out", required=True, help="file for torch.load")
    flags = parser.parse_args()
    try:
        if flags.command == "import":
            torch.save(import_state(*load(flags.prefix)), flags.out)
            return
        names = None
        if flags.names:
            with open(flags.names, encoding="utf-8") as file:
                names = file.read().split("\n")[:-1]
        model = load_file(flags.model) if flags.model else None
        state_dict = torch.load(flags.state_dict, map_location="cpu", weights_only=True)
        save(flags.out, *export_state(state_dict, names, model, flags.updates))
    except (ValueError, OSError) as error:
        sys.exit(f"optimizer_state.py: {error}")


if __name__ == "__main__":
    main()
