#!/usr/bin/env python3
"""Throughput of loaders side by side: C++ (loader.cc) and Python (python_loader.py).

    tools/bazel build //tools/bench/loader
    python3 tools/bench/loader/run.py [--python=PYTHON] [--rounds=5] [--first]

Each round runs every loader once, one after the other, each in its own process; then a
table of medians is printed, with the medians of each round's ratios: other load slows
down both sides of a ratio. PYTHON has PyPI's torch; without it Python's rows are left
out. --first (root only) runs the loaders with real-time priority (chrt): on a busy
machine the gain of two threads cannot be measured otherwise.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
BINARY = ROOT / "bazel-bin/tools/bench/loader/loader"
CPP = ["libtorch0", "libtorch2", "bare", "trainyard", "trainyard2", "bare_floats", "trainyard_floats",
       "items0", "items1", "items2"]
WALL, CORE = 0, 1
# (what, of what, by which clock, at least). One thread's work is best compared by the
# core's clock on a machine that others use too; what two threads gain, only by the wall's.
RATIOS = [
    ("trainyard", "libtorch0", CORE, 25),
    ("trainyard", "libtorch0", WALL, 25),
    ("trainyard", "libtorch2", WALL, None),
    ("trainyard", "bare", CORE, 0.9),
    ("trainyard", "bare", WALL, 0.9),
    ("trainyard_floats", "bare_floats", CORE, 0.9),
    ("trainyard", "python0", WALL, None),
    ("trainyard", "python2", WALL, None),
    ("items2", "items0", WALL, 1.9),
]


def measure(command):
    out = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout
    result = json.loads(out.partition("@@")[2])
    return (1e6 / result["us_per_image"], 1e6 / result["core_us"]), result["what"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--first", action="store_true")
    args = parser.parse_args()
    commands = {name: [BINARY, f"--only={name}", "--turns=3", "--json"] for name in CPP}
    if args.python:
        commands |= {f"python{workers}": [args.python, HERE / "python_loader.py", workers] for workers in (0, 2)}
    if args.first:
        commands = {name: ["chrt", "--rr", "1", *command] for name, command in commands.items()}
    rates, meaning = {}, {}
    for _ in range(args.rounds):
        for name, command in commands.items():
            rate, meaning[name] = measure(command)
            rates.setdefault(name, []).append(rate)
    print("| loader | samples/s | range | per second of one core |\n| --- | ---: | ---: | ---: |")
    for name, values in rates.items():
        walls, cores = zip(*values)
        print(f"| {meaning[name]} | {statistics.median(walls):,.0f} | {min(walls):,.0f}-{max(walls):,.0f} "
              f"| {statistics.median(cores):,.0f} |")
    print()
    for what, of, clock, least in RATIOS:
        if what in rates and of in rates:
            ratio = statistics.median(a[clock] / b[clock] for a, b in zip(rates[what], rates[of]))
            wanted = "" if least is None else f" (wanted: {least}; {'held' if ratio >= least else 'MISSED'})"
            print(f"{what} / {of}, by the {('wall', 'core')[clock]}'s clock: {ratio:.2f}{wanted}")


if __name__ == "__main__":
    main()
