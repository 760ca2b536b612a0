#!/usr/bin/env python3
"""Injects faults into one of several training processes and checks that the run recovers.

    python3 tools/faults/rank_faults.py kill --trials=100
    python3 tools/faults/rank_faults.py freeze --trials=10
    python3 tools/faults/rank_faults.py throw --trials=10
    python3 tools/faults/rank_faults.py late

kill    SIGKILL to a random rank, rank 0 too, at a random moment of the run
freeze  SIGSTOP to a random rank; the launcher may wait 3 s for it
throw   an exception in a callback of the last rank, after a random update
late    two launchers, as on two hosts, one 10 s after the other

After kill and freeze the launcher must name the rank, end all ranks within 5 s (plus the 3 s) and
restart them, and the run must end with the state of an uninterrupted one. After throw all ranks must
end within 5 s, and the launcher must print the rank and its message. Exit code 1 if any trial fails.
"""

import argparse
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import program

sys.path.insert(0, str(program.ROOT / "tools/launch/testing"))
from processes import alive  # noqa: E402

LAUNCH = program.built("tools/launch/launch_only")
TRAIN_LOOP = program.built("tools/faults/train_loop")


def ranks_of(run_dir: pathlib.Path) -> dict[int, int]:
    """Process by rank, of the run that saves to this folder."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
            # The launcher has the program among its arguments, not as its name.
            if not arguments[0].endswith(b"train_loop") or f"--run_dir={run_dir}".encode() not in arguments:
                continue
            rank = re.search(rb"(?:^|\0)RANK=(\d+)", (folder / "environ").read_bytes())
        except OSError:
            continue
        if rank:
            found[int(rank[1])] = int(folder.name)
    return found


def wait_until(condition, limit: float) -> float | None:
    """Seconds until it holds, or None."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > limit:
            return None
        time.sleep(0.005)
    return time.monotonic() - begin


class Job:
    """A launcher with its ranks, with options of its own and of the program, started by `starter`."""

    def __init__(self, run_dir: pathlib.Path, nproc: int, launch: list[str], train: list[str], starter: list[str] = ()):
        self.process = subprocess.Popen(
            [*starter, LAUNCH, f"--nproc={nproc}", f"--log_dir={run_dir}-logs", *launch, "--", TRAIN_LOOP,
             f"--run_dir={run_dir}", *train],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def end(self, limit: float = 120) -> tuple[int, str]:
        try:
            output, _ = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            output, _ = self.process.communicate()
            return -1, output + "\nhangs"
        return self.process.returncode, output


def crc_of(output: str) -> str | None:
    found = re.findall(r"state_crc32c ([0-9a-f]{8})", output)
    return found[-1] if found else None


class Faults:

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.random = random.Random(options.seed)
        self.work = pathlib.Path(options.work or tempfile.mkdtemp(prefix="trainyard-ranks-"))
        self.train = [f"--updates={options.updates}", f"--backend={options.backend}"]
        begin = time.monotonic()
        reference = Job(self.work / "reference", options.nproc, [], self.train)
        wait_until(lambda: (self.work / "reference").exists(), 60)
        self.started = time.monotonic() - begin
        code, output = reference.end()
        self.duration = time.monotonic() - begin
        self.expected = crc_of(output)
        if code != 0 or self.expected is None:
            raise SystemExit(f"the program does not run:\n{output}")
        print(f"never stopped: {self.duration:.2f} s, {self.started:.2f} of them to start; "
              f"state_crc32c {self.expected}", flush=True)

    def hit(self, trial: int, sent: signal.Signals, named: str, allowed: float, launch: list[str]) -> str | None:
        """What went wrong, or None."""
        run_dir = self.work / f"run{trial}"
        job = Job(run_dir, self.options.nproc, ["--max_restarts=1", "--backoff=0.1", *launch], self.train)
        if wait_until(lambda: len(ranks_of(run_dir)) == self.options.nproc, 60) is None:
            return f"the ranks do not start\n{job.end()[1]}"
        time.sleep(self.random.uniform(0, self.duration))
        ranks = ranks_of(run_dir)
        victim = self.random.randrange(self.options.nproc)
        if victim not in ranks:
            self.missed += 1  # it had ended: a run like any other
        else:
            os.kill(ranks[victim], sent)
            gone = wait_until(lambda: not any(alive(pid) for pid in ranks.values()), allowed + 10)
            if gone is None or gone > allowed:
                return f"the ranks were gone after {gone} s\n{job.end()[1]}"
            self.longest = max(self.longest, gone)
        code, output = job.end()
        sound, _, said = program.verify(run_dir)
        if code != 0 or not sound or crc_of(output) != self.expected:
            return f"exit code {code}, state_crc32c {crc_of(output)}\n{said}{output}"
        if f"rank {victim} {named}" in output:
            self.named += 1
        elif victim in ranks and "again" in output:
            return f"rank {victim} is not named\n{output}"
        self.zero += victim == 0 and victim in ranks
        return None

    def hit_often(self, sent: signal.Signals, named: str, allowed: float, launch: list[str]) -> int:
        self.longest, self.missed, self.named, self.zero = 0.0, 0, 0, 0
        failed = 0
        for trial in range(self.options.trials):
            wrong = self.hit(trial, sent, named, allowed, launch)
            if wrong is not None:
                failed += 1
                print(f"trial {trial}: {wrong}", flush=True)
        print(f"{self.options.trials} trials with {sent.name} on {self.options.nproc} ranks of {self.options.backend}, {self.missed} of them after the "
              f"run's end, {self.zero} to rank 0: {self.options.trials - failed} ended bitwise equal without help, "
              f"{self.named} named the rank, all ranks gone after at most {self.longest:.2f} s")
        return failed

    def kill(self) -> int:
        return self.hit_often(signal.SIGKILL, "was killed by SIGKILL", 5, [])

    def freeze(self) -> int:
        return self.hit_often(signal.SIGSTOP, "was stopped for 3 s", 3 + 5, ["--stopped_timeout=3"])

    def throw(self) -> int:
        nproc, good, longest = self.options.nproc, 0, 0.0
        for trial in range(self.options.trials):
            at = self.random.randint(1, self.options.updates - 1)
            job = Job(self.work / f"run{trial}", nproc, [], [*self.train, f"--throw_at={at}"])
            for line in job.process.stdout:
                if "this rank has had enough" in line:
                    break
            begin = time.monotonic()
            code, output = job.end()
            seconds = time.monotonic() - begin
            longest = max(longest, seconds)
            # The other ranks tell the reason that the first one left, or were ended before.
            named = f"the first to fail was rank {nproc - 1}, which ended with exit code 1" in output
            if code == 1 and named and seconds <= 5:
                good += 1
            else:
                print(f"trial {trial}: exit code {code} after {seconds:.2f} s\n{output}", flush=True)
        print(f"{good} of {self.options.trials} exceptions of rank {nproc - 1}: named, all gone after at most {longest:.2f} s")
        return self.options.trials - good

    def late(self) -> int:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        jobs = []
        for node in range(2):
            hosts = ["--nnodes=2", f"--node_rank={node}", "--master_addr=127.0.0.1", f"--master_port={port}"]
            jobs.append(Job(self.work / "late", 1, hosts, self.train))
            if node == 0:
                time.sleep(10)
        ends = [job.end() for job in jobs]
        good = all(code == 0 for code, _ in ends) and crc_of(ends[0][1]) is not None
        print("a rank that came 10 s late: " + ("trained" if good else f"failed\n{ends}"))
        return 0 if good else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", choices=["kill", "freeze", "throw", "late"])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--nproc", type=int, default=2)
    parser.add_argument("--updates", type=int, default=60)
    parser.add_argument("--backend", default="ddp", help="ddp, zero1, zero2, ...")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", default="", help="folder to work in; a new one in /tmp unless given")
    options = parser.parse_args()
    for tool in (LAUNCH, TRAIN_LOOP, program.CHECKPOINT):
        if not tool.exists():
            raise SystemExit("build first: tools/bazel build //tools/faults:all //tools/launch:launch_only "
                             "//tools/inspect:checkpoint")
    os.environ["OMP_NUM_THREADS"] = "1"
    return 0 if getattr(Faults(options), options.fault)() == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
