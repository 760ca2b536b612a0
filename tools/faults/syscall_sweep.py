#!/usr/bin/env python3
"""Kills a program before each system call of one save, with strace's fault injection.

    python3 tools/faults/syscall_sweep.py
    python3 tools/faults/syscall_sweep.py --error=EIO       # the call fails instead

The folder has checkpoints of steps 1 and 2. The run under strace resumes from 2, saves 3 and removes
1. After each run all listed checkpoints must be valid, step 2 or 3 must exist, and step 3 if it was
acknowledged; then the program must resume and end with the state of an uninterrupted run. The sweep
covers every system call that changes files, from the first to the last in the run's folder.
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

import program

CALLS = ["openat", "mkdir", "write", "fallocate", "ftruncate", "fsync", "close", "flock", "renameat2", "rename",
         "unlink", "rmdir", "pread64", "getdents64", "newfstatat", "statfs"]


def traced(log: pathlib.Path, run_dir: pathlib.Path) -> dict[str, range]:
    """Of each kind of call, which ones (counted from 1) come from the first mention of the folder on."""
    counts: collections.Counter[str] = collections.Counter()
    first: dict[str, int] = {}
    begun = False
    for line in log.read_text(errors="replace").splitlines():
        match = re.match(r"(?:\d+ +)?(\w+)\(", line)
        if match is None:
            continue
        call = match[1]
        counts[call] += 1
        begun = begun or str(run_dir) in line
        if begun:
            first.setdefault(call, counts[call])
    return {call: range(first[call], counts[call] + 1) for call in CALLS if call in first}


def main() -> int:
    parser = program.arguments(__doc__)
    parser.add_argument("--error", default="", help="let the call fail with this instead of ending the process")
    parser.set_defaults(command=f"{program.SAVE_LOOP} --run_dir={{run_dir}} --elements=2000")
    options = parser.parse_args()
    if shutil.which("strace") is None:
        print("SKIPPED: there is no strace")
        return 0
    trained = program.Program(options)
    # One thread: strace counts calls of each thread by itself.
    os.environ["OMP_NUM_THREADS"] = "1"
    seed = trained.fresh("seed")
    subprocess.run(trained.argv(seed) + ["--steps=2"], check=True, capture_output=True)
    reference = trained.fresh("reference")
    expected = trained.crc(reference, subprocess.run(
        trained.argv(reference) + ["--steps=3"], capture_output=True, text=True, check=True).stdout)

    run_dir = trained.work / "run"
    log = trained.work / "strace.log"

    def attempt(injection: list[str]) -> subprocess.CompletedProcess:
        shutil.rmtree(run_dir, ignore_errors=True)
        shutil.copytree(seed, run_dir)
        return subprocess.run(
            ["strace", "-o", str(log), "-e", "trace=" + ",".join(CALLS), *injection,
             *trained.argv(run_dir), "--steps=3"], capture_output=True, text=True)

    if attempt([]).returncode != 0:
        print("the program does not run under strace")
        return 1
    ranges = traced(log, run_dir)
    print("calls:", ", ".join(f"{call} {len(numbers)}" for call, numbers in ranges.items()))
    total = bad = acknowledged = 0
    for call, numbers in ranges.items():
        for number in numbers:
            action = f"error={options.error}" if options.error else "signal=SIGKILL"
            done = attempt(["-e", f"inject={call}:{action}:when={number}"])
            total += 1
            sound, steps, said = program.verify(run_dir)
            saved = "saved 3" in done.stdout
            acknowledged += saved
            again = subprocess.run(trained.argv(run_dir) + ["--steps=3"], capture_output=True, text=True)
            crc = trained.crc(run_dir, again.stdout)
            passed = (sound and (3 in steps if saved else bool(steps & {2, 3})) and again.returncode == 0
                      and crc == expected and not program.half_done(run_dir))
            if not passed:
                bad += 1
                print(f"{call} {number}: sound {sound}, steps {steps}, saved {saved}, "
                      f"state {crc}, {said} {done.stderr} {again.stderr}", flush=True)
    what = f"failing with {options.error}" if options.error else "the process ending before it"
    print(f"{total} calls, each {what}: {total - bad} pass, {bad} fail ({acknowledged} had been acknowledged)")
    return 0 if bad == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
