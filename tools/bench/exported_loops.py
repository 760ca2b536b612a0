#!/usr/bin/env python3
"""Processor time of a whole training step: compiled, interpreted, hand-written in C++, and Python's fused loop, interleaved.

    tools/bazel build //tools/bench:exported_loops
    /tmp/export/bin/python tools/bench/exported_loops.py [--rounds=5]     # the environment of export_model.py; needs g++

Exports and compiles the networks of exported_nets.py (with --folder, once and for all), then runs each in turn in a C++ program and in
a Python program, one thread each; the table has medians of the rounds, and ratios are medians of rounds' ratios. Every loop does
forward, backward, clipping of the gradient norm, AdamW in one fused kernel, a cosine schedule, and reads the loss.
"""

import argparse
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch.nn import functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = {"mlp": 400, "conv": 20, "transformer": 6}


def python_loop(name, steps, turns):
    """Python's fastest: batches made beforehand, AdamW(fused=True)."""
    sys.path.insert(0, str(ROOT / "tools/bench"))
    from exported_nets import ALL
    torch.set_num_threads(1)
    module, (example,) = ALL[name]()
    xs = [torch.randint(256, example.shape) if name == "transformer" else torch.randn_like(example) for _ in range(50)]
    ys = [torch.randint(10, (example.shape[0],)) for _ in range(50)]
    parameters = list(module.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, fused=True)
    module.train()
    times, total = [], 0.0
    for _ in range(turns + 1):
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5 * (1 + math.cos(math.pi * step / steps)))
        begin = time.process_time()
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.cross_entropy(module(xs[step % 50]), ys[step % 50])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item()
        times.append(1e3 * (time.process_time() - begin) / steps)
    return statistics.median(times[1:])


def prepare(folder):
    for name, function in [("mlp", "tiny_mlp"), ("conv", "small_conv"), ("transformer", "small_transformer")]:
        if pathlib.Path(folder, name + ".pt2").exists():
            continue
        subprocess.run([sys.executable, ROOT / "tools/convert/export_model.py", "%s/tools/bench/exported_nets.py:%s" % (ROOT, function),
                        "--out=%s/%s.safetensors" % (folder, name), "--compile=cross_entropy", "--threads=1"],
                       check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--folder", help="where compiled networks are kept; otherwise they are compiled again")
    parser.add_argument("--program", default=str(ROOT / "bazel-bin/tools/bench/exported_loops"))
    parser.add_argument("--python", help="times only this network, in this process")
    options = parser.parse_args()
    if options.python:
        print("python %.4f" % python_loop(options.python, STEPS[options.python], options.turns))
        return 0
    kept = None if options.folder else tempfile.TemporaryDirectory()
    folder = options.folder or kept.name
    prepare(folder)
    print("| network | compiled, ms | interpreted | hand-written | hand-written over the graph | Python, fused | compiled / hand-written | "
          "compiled / Python | compiled / interpreted | graph / hand-written |\n|%s" % (" --- |" * 10))
    for name, steps in STEPS.items():
        rounds = []
        for _ in range(options.rounds):
            text = ""
            for command in [[options.program, "--net=" + name, "--folder=" + folder, "--steps=%d" % steps, "--turns=%d" % options.turns],
                            [sys.executable, __file__, "--python=" + name, "--turns=%d" % options.turns]]:
                text += subprocess.run(command, check=True, capture_output=True, text=True).stdout
            rounds.append({word: float(value) for word, value in (line.split() for line in text.splitlines() if len(line.split()) == 2)})

        def median(above, below=None):
            return statistics.median(one[above] / (one[below] if below else 1) for one in rounds)

        times = " | ".join("%.3f" % median(loop) for loop in ["compiled", "interpreted", "hand", "graph", "python"])
        ratios = " | ".join("%.2f" % median(*pair) for pair in [("compiled", "hand"), ("compiled", "python"), ("compiled", "interpreted"),
                                                                ("graph", "hand")])
        print("| %s | %s | %s |" % (name, times, ratios), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
