#!/usr/bin/env python3
"""Step time (forward, backward, AdamW) of exported models in C++ against the same modules in Python eager, interleaved.

    tools/bazel build //tools/bench:exported_step
    /tmp/export/bin/python tools/bench/exported_step.py [--rounds=9] [--steps=30]     # the environment of export_model.py

Each round runs every model in C++ and in Python, one thread each, one after the other; the table has medians of the rounds.
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
        begin = time.perf_counter()
        outputs = module(**inputs)
        loss = (outputs["logits"] if isinstance(outputs, dict) else outputs).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step >= 0:
            times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times), loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--program", default=str(ROOT / "bazel-bin/tools/bench/exported_step"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        found = [(name, module, inputs, "%s/%d" % (folder, i)) for i, (name, module, inputs, _) in enumerate(models())]
        for (_, module, inputs, path), (_, _, _, dynamic) in zip(found, models()):
            export_model(module, inputs, path, dynamic)
            save_file(inputs, path + ".inputs")
        first = {name: {k: v.clone() for k, v in module.state_dict().items()} for name, module, _, _ in found}
        times = {name: ([], []) for name, *_ in found}
        for _ in range(options.rounds):
            for name, module, inputs, path in found:
                output = subprocess.run(
                    [options.program, "--model=" + path, "--inputs=%s.inputs" % path, "--steps=%d" % options.steps],
                    check=True, capture_output=True, text=True).stdout.split()
                module.load_state_dict(first[name])
                python, loss = python_step(module, inputs, options.steps)
                assert abs(float(output[3]) - loss) <= 1e-3 * abs(loss), (name, output, loss)
                times[name][0].append(float(output[0]))
                times[name][1].append(python)
    print("| model | C++, ms per step | Python eager, ms per step | ratio |\n| --- | --- | --- | --- |")
    for name, (ours, python) in times.items():
        ratio = statistics.median(a / b for a, b in zip(ours, python))
        print("| %s | %.2f | %.2f | %.2f |" % (name, statistics.median(ours), statistics.median(python), ratio))
    return 0


if __name__ == "__main__":
    sys.exit(main())
