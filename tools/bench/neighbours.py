#!/usr/bin/env -S python3 -B
"""What busy neighbours cost: the speed of a training alone, and beside programs that use the cores.

    tools/bazel run //tools/bench:neighbours
    tools/bazel run //tools/bench:neighbours -- --neighbours=0,1 --set=TRAINYARD_SHARE_CORES=0 --set=GOMP_SPINCOUNT=1000

Trains Fashion-MNIST for some updates (--updates) in turns: alone, beside one busy loop, beside two (--neighbours), each with the
environment as it is and with each variable of --set. A busy loop is a process of its own with the same priority. With --sessions each is in
a session of its own, like the program of another user: Linux then divides the cores among sessions (autogroup), not among programs.
--program is any program with the flags --epochs, --max_updates and --summary_json. Prints Markdown: medians over --rounds of samples per
second while it trains, and how many times as long as alone that is. The machine must be quiet otherwise.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile


def samples_per_second(options, variable, neighbours):
    """One run beside busy loops."""
    environment = dict(os.environ)
    if variable:
        name, _, value = variable.partition("=")
        environment[name] = value
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=options.sessions) for _ in range(neighbours)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            summary = pathlib.Path(folder, "summary.json")
            command = [options.program, "--epochs=1", f"--max_updates={options.updates}", f"--summary_json={summary}"]
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            values = json.loads(summary.read_text())
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    return values["samples_per_second"], values["state_crc32c"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--updates", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--neighbours", default="0,1,2", help="numbers of busy loops; the first is the base of the ratios")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--sessions", action="store_true")
    options = parser.parse_args()
    counts = [int(count) for count in options.neighbours.split(",")]
    settings = ["", *options.set]

    speeds, checksums = {}, set()
    for _ in range(options.rounds):
        for setting in settings:
            for count in counts:
                speed, checksum = samples_per_second(options, setting, count)
                speeds.setdefault((setting, count), []).append(speed)
                checksums.add(checksum)
    print("| environment | " + " | ".join(f"{count} busy" for count in counts) + " |")
    print("| --- |" + " --- |" * len(counts))
    for setting in settings:
        medians = [statistics.median(speeds[setting, count]) for count in counts]
        cells = [f"{median:.0f}/s" + (f", {medians[0] / median:.2f}" if i else "") for i, median in enumerate(medians)]
        print(f"| {setting or 'as it is'} | " + " | ".join(cells) + " |")
    print(f"\nweights at the end: {'equal in all runs' if len(checksums) == 1 else f'{len(checksums)} different ones'}")


if __name__ == "__main__":
    main()
