#!/usr/bin/env python3
"""Reads checkpoints with Python's safetensors alone and compares every bit.

    tools/bazel build //tools/inspect:checkpoint
    python3 tools/inspect/python_reads.py

Tensors of every type that torch and the format share go through `checkpoint import` into a checkpoint, and from there
through `checkpoint export` into shards with an index; what Python reads of each must be what it wrote.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import safetensors.torch
import torch

CHECKPOINT = pathlib.Path(__file__).resolve().parents[2] / "bazel-bin/tools/inspect/checkpoint"
TYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64, torch.uint64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2,
    torch.float8_e8m0fnu, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
]


def random_bits(dtype: torch.dtype, count: int) -> torch.Tensor:
    if dtype == torch.bool:
        return torch.rand(count) > 0.5
    size = torch.empty((), dtype=dtype).element_size()
    return torch.randint(0, 256, (count * size,), dtype=torch.uint8).view(dtype)


def bits(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(
        one[name].dtype == other[name].dtype and one[name].shape == other[name].shape
        and bits(one[name]) == bits(other[name]) for name in one)


def main() -> int:
    torch.manual_seed(1)
    tensors = {}
    for dtype in TYPES:
        name = str(dtype).removeprefix("torch.")
        tensors[f"{name}.matrix"] = random_bits(dtype, 12).reshape(3, 4)
        tensors[f"{name}.scalar"] = random_bits(dtype, 1).reshape(())
        tensors[f"{name}.empty"] = torch.empty(0, 2, dtype=dtype)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        safetensors.torch.save_file(tensors, work / "in.safetensors")
        subprocess.run([CHECKPOINT, "import", work / "in.safetensors", work / "run"], check=True)
        saved = safetensors.torch.load_file(work / "run/step-0000000000/model.safetensors")
        subprocess.run([CHECKPOINT, "export", work / "run", work / "out", "--max_shard_bytes=100"], check=True)
        index = json.loads((work / "out/model.safetensors.index.json").read_text())["weight_map"]
        shards = {name: safetensors.torch.load_file(work / "out" / name) for name in set(index.values())}
        sharded = {name: shards[file][name] for name, file in index.items()}
    results = {"checkpoint": same(saved, tensors), f"{len(shards)} shards": same(sharded, tensors)}
    for what, equal in results.items():
        print(f"{what}: {len(tensors)} tensors of {len(TYPES)} types, {'bit for bit' if equal else 'DIFFERENT'}")
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
