#!/usr/bin/env python3
"""One update by Python's fused AdamW, on one thread, as trainer/optim's
adamw_benchmark measures it in C++: medians in microseconds.

    python3 tools/bench/optimizers.py

Needs PyPI's torch, of the version that third_party/libtorch pins.
"""

import statistics
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


def main():
    torch.set_num_threads(1)
    for name, shapes, repetitions in (("small_network", small_network(), 5000), ("resnet50", resnet50(), 30)):
        for clip in (False, True):
            print(f"{name}{'_clip' if clip else ''}: {median(shapes, repetitions, clip):.1f} us")


if __name__ == "__main__":
    main()
