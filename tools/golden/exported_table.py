#!/usr/bin/env python3
"""Exports every architecture of architectures.py, trains it in C++ and in Python, and prints a table of the differences.

    tools/golden/exported_table.sh [--only=gpt2,llama]     # makes the environment /tmp/export, builds the C++ side, and calls this

For each: nodes and kinds of operators of the training graph; the largest relative difference of outputs (both modes), of every
parameter's gradient, of buffers (batch statistics), and of the state after 20 updates of AdamW. Limits are 1e-5, 1e-5, 1e-6 and
1e-4. What C++ trained is then loaded into the module with strict=True and must compute the same outputs. Ends with 1 if anything
is over its limit.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import torch
from safetensors.torch import load_file, save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/golden"), str(ROOT / "tools/convert")]
import architectures  # noqa: E402
from export_model import CannotExport, export_model  # noqa: E402
from exported_models import golden, outputs_of  # noqa: E402

LIMITS = {"eval": 1e-5, "train": 1e-5, "gradients": 1e-5, "buffers": 1e-6, "updates": 1e-4}


def checked(make, program, folder):
    """A row of the table, and whether everything is within its limit."""
    torch.manual_seed(1)
    one = make()
    path = "%s/%s" % (folder, make.__name__)
    texts = export_model(one.module, one.example, path, one.dynamic)
    save_file(golden(one.module, one.inputs), path + "_golden")
    done = subprocess.run([program, "--model=" + path, "--golden=%s_golden" % path, "--left=" + path], capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotExport(done.stderr.strip())
    *differences, gradients, buffers = done.stdout.split()
    differences = dict(zip(LIMITS, map(float, differences)))
    one.module.load_state_dict(load_file(path + "_state.safetensors"), strict=True)
    one.module.eval()
    with torch.no_grad():
        outputs = outputs_of(one.module, one.inputs)
    saved = load_file(path + "_outputs.safetensors")
    back = max(float((saved[name] - output).abs().max() / output.abs().max().clamp_min(1e-12)) for name, output in outputs.items())
    nodes = texts["train"]["nodes"]
    good = all(differences[name] <= limit for name, limit in LIMITS.items()) and back <= 1e-5
    row = [one.name, one.source, str(len(nodes)), str(len({node["op"] for node in nodes})),
           "%.0e" % max(differences["eval"], differences["train"]), "%s: %.0e" % (gradients, differences["gradients"]),
           "%s: %.0e" % (buffers, differences["buffers"]) if buffers != "0" else "none", "%.0e" % differences["updates"], "%.0e" % back,
           "yes" if good else "NO"]
    return row, good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="functions of architectures.py, separated by commas")
    parser.add_argument("--program", default=str(ROOT / "bazel-bin/tools/convert/exported_check"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    only = options.only.split(",") if options.only else [make.__name__ for make in architectures.ALL]
    print("| model | from | nodes | operators | outputs | gradients | buffers | 20 updates | back in Python | within limits |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    all_good = True
    with tempfile.TemporaryDirectory() as folder:
        for make in architectures.ALL:
            if make.__name__ not in only:
                continue
            try:
                row, good = checked(make, options.program, folder)
                print("| %s |" % " | ".join(row), flush=True)
            except CannotExport as error:
                print("| %s | FAILED: %s |" % (make.__name__, error), flush=True)
                good = False
            all_good = all_good and good
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
