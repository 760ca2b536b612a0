#!/usr/bin/env python3
"""Processor time of a step (forward, backward, AdamW) of exported models in C++ against the same modules in Python eager, interleaved.

    tools/bazel build //tools/bench:exported_step
    /tmp/export/bin/python tools/bench/exported_step.py [--rounds=9] [--steps=30]     # the environment of export_model.py

Each round runs every model in C++ and in Python, each in a process and one thread of its own, one after the other; the table
has medians of the rounds. Losses after all steps must be equal.
Python's optimizer is AdamW(fused=True).
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from safetensors.torch import save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/golden"), str(ROOT / "tools/convert")]
from export_model import export_model  # noqa: E402
from exported_models import ConvNet, Mlp, Transformer, padding  # noqa: E402


def models():
    """(name, module, inputs, dynamic dimensions)."""
    torch.manual_seed(1)
    return [
        ("mlp 64-256-10, batch 32", Mlp(64, 256, 10), {"x": torch.randn(32, 64)}, {}),
        ("conv net 32x32, batch 32", ConvNet(3, 16, 10, 32), {"x": torch.randn(32, 3, 32, 32)}, {}),
        ("transformer 4 blocks of 128, 16 x 64 words", Transformer(256, 128, 4, 4, 64),
         {"tokens": torch.randint(256, (16, 64)), "padding": padding(16, 64)}, {"tokens": [0, 1], "padding": [0, 1]}),
    ]


def python_step(module, inputs, steps):
    optimizer = torch.optim.AdamW([p for p in module.parameters() if p.requires_grad], lr=1e-3, fused=True)
    module.train()
    torch.manual_seed(1)
    times = []
    for step in range(-(steps // 5), steps):
        begin = time.process_time()
        outputs = module(**inputs)
        loss = (outputs["logits"] if isinstance(outputs, dict) else outputs).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step >= 0:
            times.append(1e3 * (time.process_time() - begin))
    return statistics.median(times), loss.item()


def output_of(*command):
    """The time and the loss that a program prints, as `12.3 ms, loss 0.5`."""
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(words[0]), float(words[3])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--program", default=str(ROOT / "bazel-bin/tools/bench/exported_step"))
    parser.add_argument("--python", type=int, help="times only this model, in this process")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = models()
    if options.python is not None:
        _, module, inputs, _ = found[options.python]
        print("%.4f ms, loss %.6g" % python_step(module, inputs, options.steps))
        return 0
    times = [([], []) for _ in found]
    with tempfile.TemporaryDirectory() as folder:
        for i, (_, module, inputs, dynamic) in enumerate(found):
            export_model(module, inputs, "%s/%d" % (folder, i), dynamic)
            save_file(inputs, "%s/%d.inputs" % (folder, i))
        for _ in range(options.rounds):
            for i, (ours, python) in enumerate(times):
                steps = "--steps=%d" % options.steps
                path = "%s/%d" % (folder, i)
                first = output_of(options.program, "--model=" + path, "--inputs=%s.inputs" % path, steps)
                second = output_of(sys.executable, __file__, "--python=%d" % i, steps)
                assert abs(first[1] - second[1]) <= 1e-3 * abs(second[1]), (found[i][0], first, second)
                ours.append(first[0])
                python.append(second[0])
    print("| model | C++, ms of processor time per step | Python eager | ratio |\n| --- | --- | --- | --- |")
    for (name, *_), (ours, python) in zip(found, times):
        ratio = statistics.median(a / b for a, b in zip(ours, python))
        print("| %s | %.2f | %.2f | %.2f |" % (name, statistics.median(ours), statistics.median(python), ratio))
    return 0


if __name__ == "__main__":
    sys.exit(main())
