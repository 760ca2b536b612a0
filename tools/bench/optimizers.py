#!/usr/bin/env python3
"""One update of AdamW in C++ and by Python's fused kernel, in turn, on one thread: medians in microseconds.

    tools/bazel build //trainer/optim:adamw_benchmark
    python3 tools/bench/optimizers.py

Needs PyPI's torch, of the version that third_party/libtorch pins.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

import torch


def small_network():
    return [(16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 128), (10,)]


def resnet50():
    shapes = []

    def conv(out, into, kernel):
        shapes.extend([(out, into, kernel, kernel), (out,), (out,)])

    conv(64, 3, 7)
    into = width = 64
    for blocks in (3, 4, 6, 3):
        for block in range(blocks):
            conv(width, into, 1)
            conv(width, width, 3)
            conv(4 * width, width, 1)
            if block == 0:
                conv(4 * width, into, 1)
            into = 4 * width
        width *= 2
    return shapes + [(1000, into), (1000,)]


def median(shapes, repetitions, clip):
    params = [torch.randn(shape, requires_grad=True) for shape in shapes]
    gradients = [torch.randn(shape) for shape in shapes]
    optimizer = torch.optim.AdamW(params, fused=True)
    seconds = []
    for _ in range(repetitions):
        for param, gradient in zip(params, gradients):
            param.grad = gradient.clone()
        start = time.perf_counter()
        if clip:
            torch.nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    return 1e6 * statistics.median(seconds)


def ours(binary):
    """Microseconds by name, of the C++ benchmark."""
    output = subprocess.run([binary, "--benchmark_format=json"], check=True, capture_output=True, text=True).stdout
    times = {}
    for run in json.loads(output)["benchmarks"]:
        name = run["name"].split("/")[1]
        times[name], times[name + "_clip"] = run["ours"], run["ours_clip"]
    return times


def python():
    times = {}
    for name, shapes, repetitions in (("small_network", small_network(), 5000), ("resnet50", resnet50(), 30)):
        for clip in (False, True):
            times[f"{name}{'_clip' if clip else ''}"] = median(shapes, repetitions, clip)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--binary", default="bazel-bin/trainer/optim/adamw_benchmark", help="the C++ benchmark")
    parser.add_argument("--rounds", type=int, default=5, help="of each, in turn")
    arguments = parser.parse_args()
    if not pathlib.Path(arguments.binary).exists():
        sys.exit(f"{arguments.binary} is not there: tools/bazel build //trainer/optim:adamw_benchmark")
    torch.set_num_threads(1)
    rounds = [(ours(arguments.binary), python()) for _ in range(arguments.rounds)]
    print(f"{'':20} {'ours':>9} {'Python':>9}   Python / ours")
    for name in rounds[0][0]:
        cpp, py = (statistics.median(each[i][name] for each in rounds) for i in (0, 1))
        print(f"{name:20} {cpp:9.1f} {py:9.1f}   {py / cpp:.2f}")


if __name__ == "__main__":
    main()
