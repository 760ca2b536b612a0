#!/usr/bin/env python3
"""Trains on two hosts (network namespaces of this machine) and cuts the network.

    sudo python3 tools/faults/network_cut.py --trials=5

Both sides must name the missing rank and end within the run's timeout plus three seconds; after the
cut no checkpoint may appear. Then the link is restored, and both launchers, started again, must
resume the run and end with the state of an uninterrupted one. Needs root and `ip`; prints SKIPPED
without them. Exit code 1 if any trial fails.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import program
from rank_faults import Job, crc_of

HOSTS = ["trainyard0", "trainyard1"]
ADDRESSES = ["10.213.77.1", "10.213.77.2"]


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def link(state: str) -> None:
    ip("-n", HOSTS[0], "link", "set", "veth0", state)


def make_hosts() -> None:
    remove_hosts()
    for host in HOSTS:
        ip("netns", "add", host)
        ip("-n", host, "link", "set", "lo", "up")
    ip("link", "add", "veth0", "netns", HOSTS[0], "type", "veth", "peer", "name", "veth1", "netns", HOSTS[1])
    for i, host in enumerate(HOSTS):
        ip("-n", host, "address", "add", f"{ADDRESSES[i]}/24", "dev", f"veth{i}")
        ip("-n", host, "link", "set", f"veth{i}", "up")


def remove_hosts() -> None:
    for host in HOSTS:
        subprocess.run(["ip", "netns", "delete", host], stderr=subprocess.DEVNULL)


class Pair:
    """A launcher on each host."""

    def __init__(self, run_dir: pathlib.Path, options: argparse.Namespace):
        self.jobs = [
            Job(run_dir, 1,
                ["--nnodes=2", f"--node_rank={i}", f"--master_addr={ADDRESSES[0]}", "--master_port=29511"],
                [f"--updates={options.updates}", f"--timeout={options.timeout}"],
                starter=["ip", "netns", "exec", host])
            for i, host in enumerate(HOSTS)
        ]
        self.processes = [job.process for job in self.jobs]

    def end(self) -> tuple[list[int], list[str]]:
        ends = [job.end(limit=300) for job in self.jobs]
        return [code for code, _ in ends], [output for _, output in ends]


def cut_once(run_dir: pathlib.Path, expected: str, options: argparse.Namespace) -> str | None:
    """What went wrong, or None."""
    pair = Pair(run_dir, options)
    for line in pair.processes[0].stdout:
        if "saved 20" in line:
            break
    link("down")
    cut = time.monotonic()
    time.sleep(0.5)  # what both had agreed on is committed
    _, before, _ = program.verify(run_dir)
    seconds = []
    while len(seconds) < 2:
        seconds += [time.monotonic() - cut for process in pair.processes
                    if process.poll() is not None][len(seconds):]
        time.sleep(0.02)
        if time.monotonic() - cut > options.timeout + 60:
            for process in pair.processes:
                process.kill()
            link("up")
            return f"hangs: {pair.end()[1]}"
    codes, outputs = pair.end()
    link("up")
    _, after, said = program.verify(run_dir)
    texts = "\n".join(outputs)
    print(f"both had ended {seconds[0]:.2f} and {seconds[1]:.2f} s after the cut, with {codes}", flush=True)
    # A second of it to ask who is still there, the rest to end.
    if max(seconds) > options.timeout + 3 or 0 in codes:
        return texts
    if before != after:
        return f"checkpoints {sorted(after - before)} came after the cut; {said}"
    for i, output in enumerate(outputs):
        if f"rank {1 - i}" not in output:
            return f"rank {i} does not name the other:\n{output}"
    codes, outputs = Pair(run_dir, options).end()
    if codes != [0, 0] or crc_of(outputs[0]) != expected:
        return f"the run does not go on: {codes} {outputs}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=8, help="seconds that ranks wait for each other")
    parser.add_argument("--updates", type=int, default=400)
    options = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("ip") is None:
        print("SKIPPED: network cuts need root and the program ip; nothing was tested")
        return 0
    os.environ["OMP_NUM_THREADS"] = "1"
    work = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-cut-"))
    make_hosts()
    try:
        codes, outputs = Pair(work / "reference", options).end()
        expected = crc_of(outputs[0])
        if codes != [0, 0] or expected is None:
            print(f"the program does not run: {codes} {outputs}")
            return 1
        print(f"two hosts, never cut: state_crc32c {expected}", flush=True)
        good = 0
        for trial in range(options.trials):
            wrong = cut_once(work / f"run{trial}", expected, options)
            good += wrong is None
            if wrong is not None:
                print(f"trial {trial}: {wrong}", flush=True)
        print(f"{good} of {options.trials} cuts: both sides named the other and ended in time, nothing was committed "
              "after the cut, and the run went on to the same end")
        return 0 if good == options.trials else 1
    finally:
        remove_hosts()


if __name__ == "__main__":
    sys.exit(main())
