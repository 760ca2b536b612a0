#!/usr/bin/env -S python3 -B
"""Runs neighbours.py with a program that knows its speed: it reads it from a variable and counts the busy loops beside it."""

import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """#!/usr/bin/env python3
import json, os, subprocess, sys
flags = dict(argument[2:].split("=", 1) for argument in sys.argv[1:])
siblings = subprocess.run(["ps", "-o", "args=", "--ppid", str(os.getppid())], stdout=subprocess.PIPE, text=True, check=True).stdout
loops = siblings.count("while True: pass")
speed = 1200 / (1 + loops * float(os.environ.get("COST", "1"))) * int(flags["max_updates"])
with open(flags["summary_json"], "w") as file:
    json.dump({"samples_per_second": speed, "state_crc32c": 7 if "COST" in os.environ else 8}, file)
"""


def main(bench):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program")
        program.write_text(PROGRAM)
        program.chmod(0o755)
        command = [sys.executable, "-B", bench, f"--program={program}", "--updates=2", "--rounds=1", "--set=COST=0.5"]
        printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert printed.splitlines() == [
        "| environment | 0 busy | 1 busy | 2 busy |",
        "| --- | --- | --- | --- |",
        "| as it is | 2400/s | 1200/s, 2.00 | 800/s, 3.00 |",
        "| COST=0.5 | 2400/s | 1600/s, 1.50 | 1200/s, 2.00 |",
        "",
        "weights at the end: 2 different ones",
    ], printed


main(sys.argv[1])
