#!/usr/bin/env python3
"""Saves and loads one state by the store, by torch::save and at the machine's own speed, and prints a table of medians.

    tools/bazel build //tools/bench/checkpoint:save_and_load
    python3 tools/bench/checkpoint/compare.py --mebibytes=512 --rounds=7

Only the store and `raw_…_fsync` wait for the disk. Only the store verifies what it reads. Python's libraries: the row
"checkpoint" of //tools/bench:peers.
"""

import argparse
import collections
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "bazel-bin/tools/bench/checkpoint/save_and_load"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mebibytes", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path("/tmp/trainyard-bench"))
    options = parser.parse_args()
    rounds: dict[str, list[float]] = collections.defaultdict(list)
    for _ in range(options.rounds):
        done = subprocess.run([PROGRAM, f"--mebibytes={options.mebibytes}", f"--dir={options.dir / 'cc'}"],
                              check=True, capture_output=True, text=True)
        for name, seconds in (line.split() for line in done.stdout.splitlines()):
            rounds[name].append(float(seconds))
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
