#!/usr/bin/env python3
"""Saves and loads one state in several ways, in turns, and prints a table of medians.

    tools/bazel build //tools/bench/checkpoint:save_and_load
    python3 tools/bench/checkpoint/compare.py --mebibytes=512 --rounds=7

Needs Python's torch and safetensors. Only the store and `raw_…_fsync` wait for the disk; data
of the others may still be lost when they return. Only the store verifies what it reads.
"""

import argparse
import collections
import os
import pathlib
import shutil
import statistics
import subprocess
import time

import safetensors.torch
import torch
import torch.distributed.checkpoint as dcp

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "bazel-bin/tools/bench/checkpoint/save_and_load"
TENSORS = 48


def state(mebibytes: int) -> dict[str, torch.Tensor]:
    elements = mebibytes * 2**20 // 4 // 3 // TENSORS
    kinds = ["", "/exp_avg", "/exp_avg_sq"]
    return {f"layer{i:02d}.weight{kind}": torch.rand(elements) for i in range(TENSORS) for kind in kinds}


def python_round(tensors: dict[str, torch.Tensor], folder: pathlib.Path) -> dict[str, float]:
    times = {}

    def timed(name, work):
        os.sync()
        begin = time.perf_counter()
        result = work()
        times[name] = time.perf_counter() - begin
        return result

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    timed("torch.save", lambda: torch.save(tensors, folder / "state.pt"))
    timed("torch.load", lambda: torch.load(folder / "state.pt"))
    timed("safetensors_save", lambda: safetensors.torch.save_file(tensors, folder / "state.safetensors"))
    # It maps the file: without a look at every byte nothing has been read.
    timed("safetensors_load", lambda: {
        name: tensor.clone() for name, tensor in safetensors.torch.load_file(folder / "state.safetensors").items()})
    timed("dcp_save", lambda: dcp.save(tensors, checkpoint_id=folder / "dcp", no_dist=True))
    empty = {name: torch.empty_like(tensor) for name, tensor in tensors.items()}
    timed("dcp_load", lambda: dcp.load(empty, checkpoint_id=folder / "dcp", no_dist=True))
    # The second one has its buffers, as ours has.
    dcp.async_save(tensors, checkpoint_id=folder / "dcp2", no_dist=True).result()
    timed("dcp_async_blocked", lambda: dcp.async_save(tensors, checkpoint_id=folder / "dcp3", no_dist=True)).result()
    shutil.rmtree(folder)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mebibytes", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path("/tmp/trainyard-bench"))
    options = parser.parse_args()
    torch.manual_seed(1)
    tensors = state(options.mebibytes)
    rounds: dict[str, list[float]] = collections.defaultdict(list)
    for _ in range(options.rounds):
        done = subprocess.run([PROGRAM, f"--mebibytes={options.mebibytes}", f"--dir={options.dir / 'cc'}"],
                              check=True, capture_output=True, text=True)
        times = {name: float(seconds) for name, seconds in (line.split() for line in done.stdout.splitlines())}
        times |= python_round(tensors, options.dir / "py")
        for name, seconds in times.items():
            rounds[name].append(seconds)
    for name, seconds in rounds.items():
        middle = statistics.median(seconds)
        print(f"{name:26} {middle * 1e3:8.1f} ms {options.mebibytes / 1024 / middle:7.2f} GiB/s "
              f"({min(seconds) * 1e3:.1f} to {max(seconds) * 1e3:.1f})")
    for name, base in [("async_blocked", "memcpy"), ("store_save", "raw_write_fsync"),
                       ("store_save", "raw_fallocate_write_fsync"), ("store_load", "plain_read")]:
        ratios = sorted(a / b for a, b in zip(rounds[name], rounds[base]))
        print(f"{name} / {base}: median {statistics.median(ratios):.2f} (of {options.rounds} rounds: "
              f"{ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
