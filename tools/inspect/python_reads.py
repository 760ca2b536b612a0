#!/usr/bin/env python3
"""Reads checkpoints with Python's safetensors alone and compares every bit.

    tools/bazel build //tools/inspect:checkpoint //tools/faults:train_loop
    python3 tools/inspect/python_reads.py

Tensors of every type that torch and the format share go through `checkpoint import` into a checkpoint, and from there
through `checkpoint export` into shards with an index; what Python reads of each must be what it wrote.

A run on two ranks is saved by `zero1`, `zero2` and `fsdp`, as slices, and by `ddp`, as whole tensors. Its exports must have the
slices end to end, bit for bit, and be what `ddp` exports, within 1e-6.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import safetensors.torch
import torch

PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "bazel-bin/tools"
CHECKPOINT = PROGRAMS / "inspect/checkpoint"
TRAIN_LOOP = PROGRAMS / "faults/train_loop"
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


def export(run: pathlib.Path, group: str) -> dict[str, torch.Tensor]:
    """The whole tensors of a run's newest checkpoint, from the one file that the tool writes."""
    folder = run.with_name(f"{run.name}-{group}")
    subprocess.run([CHECKPOINT, "export", run, folder, f"--group={group}"], check=True)
    return safetensors.torch.load_file(folder / f"{group}.safetensors")


def train(backend: str, folder: pathlib.Path) -> pathlib.Path:
    run = folder / backend
    subprocess.run([TRAIN_LOOP, f"--run_dir={run}", f"--backend={backend}", "--threads=2", "--dropout=0", "--updates=5"],
                   check=True, stdout=subprocess.DEVNULL)
    return run


def joined(run: pathlib.Path, like: dict[str, torch.Tensor], group: str) -> tuple[int, dict[str, torch.Tensor]]:
    """The tensors of a group as Python joins them from the ranks' files, and how many are in slices of several ranks."""
    step = max(run.glob("step-*"))
    whole: dict[str, torch.Tensor] = {}
    slices: dict[str, list[torch.Tensor]] = {}
    for file in sorted(step.glob(f"{group}*.safetensors")):
        for name, tensor in safetensors.torch.load_file(file).items():
            if "-slices-r" in file.name:
                slices.setdefault(name, []).append(tensor)
            else:
                whole[name] = tensor
    for name, parts in slices.items():
        whole[name] = torch.cat(parts).reshape(like[name].shape)
    return sum(len(parts) > 1 for parts in slices.values()), whole


def difference(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> float:
    """The largest difference of an element, relative to the largest of its tensor. Infinite if names or shapes differ."""
    if {name: t.shape for name, t in one.items()} != {name: t.shape for name, t in other.items()}:
        return float("inf")
    return max(((t.double() - other[name].double()).abs().max() / other[name].double().abs().max()).item()
               for name, t in one.items())


def sharded_runs(folder: pathlib.Path) -> bool:
    ddp = train("ddp", folder)
    passed = True
    for backend in ("zero1", "zero2", "fsdp"):
        run = train(backend, folder)
        cut = 0
        for group in ("model", "optimizer"):
            expected, exported = export(ddp, group), export(run, group)
            count, by_python = joined(run, expected, group)
            cut += count
            equal, off = same(exported, by_python), difference(exported, expected)
            passed &= equal and off <= 1e-6
            print(f"{backend} {group}: {len(exported)} tensors, {count} in slices, "
                  f"{'bit for bit' if equal else 'DIFFERENT'}, off from ddp by {off:.1e}")
        passed &= cut > 0
    return passed


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
        sharded_passed = sharded_runs(work)
    results = {"checkpoint": same(saved, tensors), f"{len(shards)} shards": same(sharded, tensors)}
    for what, equal in results.items():
        print(f"{what}: {len(tensors)} tensors of {len(TYPES)} types, {'bit for bit' if equal else 'DIFFERENT'}")
    return 0 if sharded_passed and all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
