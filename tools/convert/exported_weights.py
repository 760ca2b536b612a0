#!/usr/bin/env python3
"""Weights that C++ trained, back to the Python module that was exported.

    python3 tools/convert/exported_weights.py --model=net.safetensors --weights=run/step-0000001000 --out=state.safetensors

--weights is a checkpoint of the trainer (a folder step-…), or a safetensors file of ExportSafetensors. The result has the names of
the module's state_dict, with every name of tied weights and without buffers that are not persistent. In Python:

    module.load_state_dict(safetensors.torch.load_file("state.safetensors"), strict=True)

or, without the file, module.load_state_dict(exported_weights.state_dict("net.safetensors", "run/step-0000001000")).
--check=file.py:function makes the module as export_model.py does, and loads the weights strictly.
"""

import argparse
import json
import pathlib
import sys

from safetensors import safe_open
from safetensors.torch import load_file, save_file


def load_weights(path):
    """All tensors of a file, or of a checkpoint's model, in one file or several."""
    path = pathlib.Path(path)
    if not path.is_dir():
        return load_file(path)
    index = path / "model.safetensors.index.json"
    if not index.exists():
        return load_file(path / "model.safetensors")
    weights = {}
    for name in sorted(set(json.loads(index.read_text())["weight_map"].values())):
        weights.update(load_file(path / name))
    return weights


def state_dict(model, weights):
    """What load_state_dict(strict=True) of the exported module takes. `model` is the file of export_model.py."""
    with safe_open(model, "pt") as file:
        metadata = file.metadata() or {}
    if "trainyard.state" not in metadata:
        raise ValueError("%s is not a model of export_model.py" % model)
    names = json.loads(metadata["trainyard.state"])
    tensors = load_weights(weights)
    wanted = [item["name"] for item in names["parameters"]] + [item["name"] for item in names["buffers"] if item["saved"]]
    missing = [name for name in wanted if name not in tensors]
    if missing:
        raise ValueError("%s lacks %s: are these weights of another model?" % (weights, ", ".join(missing[:5])))
    state = {name: tensors[name] for name in wanted}
    for tie in names["tied"]:
        if tie["to"] in state:
            state[tie["name"]] = state[tie["to"]]
    return state


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="the file that export_model.py wrote")
    parser.add_argument("--weights", required=True, help="a folder step-... or a safetensors file")
    parser.add_argument("--out", help="the safetensors file to write")
    parser.add_argument("--check", metavar="FILE.py:FUNCTION", help="loads the weights into this module")
    options = parser.parse_args()
    try:
        state = state_dict(options.model, options.weights)
    except (ValueError, OSError) as error:
        print("exported_weights: %s" % error, file=sys.stderr)
        return 1
    if options.out:
        save_file({name: tensor.clone() for name, tensor in state.items()}, options.out, {"format": "pt"})
        print("%s: %d tensors" % (options.out, len(state)))
    if options.check:
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
        from export_model import named
        module, _ = named(options.check)()
        module.load_state_dict(state, strict=True)
        print("%s: %d tensors loaded with strict=True" % (options.check, len(state)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
