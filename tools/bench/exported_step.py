#!/usr/bin/env python3
"""Processor time of a step (forward, backward, AdamW) of exported models in C++ against the same modules in Python eager, interleaved.

    tools/bazel build //tools/bench:exported_step
    /tmp/export/bin/python tools/bench/exported_step.py [--rounds=5] [--steps=20] [--only=gpt2,…]     # the environment of exported_table.py

The models are those of tools/golden/architectures.py and three larger ones. In each round every model is timed in C++, in a process of its
own, and then in Python, in this process; one thread each. The table has medians of the rounds; a ratio is the median of the rounds'
ratios. Losses after all steps must be equal. Python's optimizer is AdamW(fused=True).
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
import architectures  # noqa: E402
from export_model import export_model  # noqa: E402
from exported_models import ConvNet, Mlp, Transformer, loss_of, outputs_of, padding  # noqa: E402


def larger():
    """(name, title, module, inputs, dynamic dimensions)."""
    return [
        ("mlp", "MLP 64-256-10, batch 32", Mlp(64, 256, 10), {"x": torch.randn(32, 64)}, {}),
        ("conv", "conv net 32x32, batch 32", ConvNet(3, 16, 10, 32), {"x": torch.randn(32, 3, 32, 32)}, {}),
        ("transformer", "transformer 4 blocks of 128, 16 x 64 words", Transformer(256, 128, 4, 4, 64),
         {"tokens": torch.randint(256, (16, 64)), "padding": padding(16, 64)}, {"tokens": [0, 1], "padding": [0, 1]}),
    ]


def models(only):
    torch.manual_seed(1)
    for one in larger():
        if not only or one[0] in only:
            yield one
    for make in architectures.ALL:
        if not only or make.__name__ in only:
            one = make()
            yield make.__name__, one.name, one.module, one.example, one.dynamic


def python_steps(module, inputs, steps):
    optimizer = torch.optim.AdamW([p for p in module.parameters() if p.requires_grad], lr=1e-3, fused=True)
    module.train()
    torch.manual_seed(1)
    times = []
    for step in range(-(steps // 5), steps):
        begin = time.process_time()
        loss = loss_of(outputs_of(module, inputs))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step >= 0:
            times.append(1e3 * (time.process_time() - begin))
    return statistics.median(times), loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--program", default=str(ROOT / "bazel-bin/tools/bench/exported_step"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = list(models(options.only.split(",") if options.only else []))
    times = [([], []) for _ in found]
    with tempfile.TemporaryDirectory() as folder:
        for name, _, module, inputs, dynamic in found:
            export_model(module, inputs, "%s/%s" % (folder, name), dynamic)
            save_file(inputs, "%s/%s.inputs" % (folder, name))
        for _ in range(options.rounds):
            for (name, _, module, inputs, _), (ours, python) in zip(found, times):
                path = "%s/%s" % (folder, name)
                command = [options.program, "--model=" + path, "--inputs=%s.inputs" % path, "--steps=%d" % options.steps]
                words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
                state = {key: tensor.clone() for key, tensor in module.state_dict().items()}
                spent, loss = python_steps(module, inputs, options.steps)
                module.load_state_dict(state)
                assert abs(float(words[3]) - loss) <= 1e-3 * abs(loss), (name, words, loss)
                ours.append(float(words[0]))
                python.append(spent)
    print("| model | C++, ms of processor time per step | Python eager | ratio |\n| --- | --- | --- | --- |")
    for (_, title, *_), (ours, python) in zip(found, times):
        ratio = statistics.median(a / b for a, b in zip(ours, python))
        print("| %s | %.2f | %.2f | %.2f |" % (title, statistics.median(ours), statistics.median(python), ratio))
    return 0


if __name__ == "__main__":
    sys.exit(main())
