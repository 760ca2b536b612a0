#!/usr/bin/env python3
"""Turns a .pt file of weights (torch.save) into a safetensors file, for `checkpoint import`.

    python3 tools/inspect/pt_to_safetensors.py weights.pt weights.safetensors

Why it is a script of its own, and nothing of Trainyard opens .pt files: such a file is a pickle, and to load one is to
run what it says. torch.load(weights_only=True) restricts that, and restrictions have been got round before
(CVE-2025-32434). So: for files of people you trust, preferably in a container, once.
"""

import argparse

import safetensors.torch
import torch


def tensors_of(value, name: str = "") -> dict[str, torch.Tensor]:
    """Every tensor of nested dictionaries, by its path: {"model": {"w": …}} has model.w."""
    if isinstance(value, torch.Tensor):
        return {name: value.detach().contiguous().clone()}
    if not isinstance(value, dict):
        raise SystemExit(f"{name or 'the file'} is a {type(value).__name__}, not tensors by name")
    found = {}
    for key, inner in value.items():
        found |= tensors_of(inner, f"{name}.{key}" if name else str(key))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--key", default="", help="only what is under this key, e.g. state_dict")
    options = parser.parse_args()
    loaded = torch.load(options.source, map_location="cpu", weights_only=True)
    tensors = tensors_of(loaded[options.key] if options.key else loaded)
    safetensors.torch.save_file(tensors, options.target, metadata={"format": "pt"})
    print(f"{len(tensors)} tensors")


if __name__ == "__main__":
    main()
