#!/usr/bin/env python3
"""Faults of many launches, with counts: what is left behind, and after how long.

    faults.py LAUNCHER RANK_PROBE [--trials=N]

launcher killed    SIGKILL to the launcher, or to its inner process:
                   ranks, their children and their daemons gone within 2 s
rank killed        SIGKILL to a random rank at a random moment: named, the group
                   gone within 5 s
launches at once   20 launchers, each with a port of its own
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "testing"))
from processes import alive, children  # noqa: E402


def wait_gone(pids, limit):
    """Seconds until none of `pids` is there, or None."""
    start = time.monotonic()
    while any(alive(pid) for pid in pids):
        if time.monotonic() - start > limit:
            return None
        time.sleep(0.005)
    return time.monotonic() - start


class Faults:

    def __init__(self, launcher, probe):
        self.launcher, self.probe = launcher, probe
        self.folder = tempfile.TemporaryDirectory()
        self.logs = self.folder.name

    def start(self, nproc, *command):
        return subprocess.Popen(
            [self.launcher, f"--nproc={nproc}", f"--log_dir={self.logs}", "--", self.probe, *command],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @staticmethod
    def waiting(process, count):
        """The process ids of `count` processes that say they wait."""
        found = {}
        while len(found) < count:
            line = process.stdout.readline()
            if not line:
                raise AssertionError("the launcher ended")
            if match := re.match(r"\[(\d)\] waits (\d+)", line):
                found[int(match[2])] = int(match[1])
        return found

    def launcher_killed(self, trial):
        # Each rank waits, with a child and a daemon: 2 * 3 processes.
        process = self.start(2, "leave", "wait")
        pids = self.waiting(process, 6)
        inner = children(process.pid)
        victims = [[process.pid], inner][trial % 2]
        time.sleep(random.uniform(0, 0.02))
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        seconds = wait_gone(list(pids) + inner, 2)
        process.wait()
        return seconds

    def rank_killed(self, trial):
        process = self.start(4, "exit", "9", "0")
        pids = self.waiting(process, 4)
        pid, rank = random.choice(list(pids.items()))
        time.sleep(random.uniform(0, 0.02))
        start = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        text = process.stdout.read()
        code = process.wait()
        seconds = time.monotonic() - start
        named = f"the first to fail was rank {rank}, which was killed by SIGKILL" in text
        gone = wait_gone(pids, 0) is not None
        return seconds if named and gone and code == 137 and seconds < 5 else None

    def launches_at_once(self, trial):
        start = time.monotonic()
        all_of_them = [self.start(2, "env") for _ in range(20)]
        texts = [process.communicate()[0] for process in all_of_them]
        good = all(process.returncode == 0 for process in all_of_them)
        stores = [re.search(r"STORE=127.0.0.1:(\d+)", text) for text in texts]
        ports = [re.findall(r"MASTER_PORT=(\d+)", text) for text in texts]
        agree = all(store and port == [store[1]] * 2 for store, port in zip(stores, ports))
        return time.monotonic() - start if good and agree else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("launcher")
    parser.add_argument("probe")
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    args = parser.parse_args()
    random.seed(args.seed)
    print(f"seed {args.seed}")
    faults = Faults(os.path.abspath(args.launcher), os.path.abspath(args.probe))
    failed = 0
    for fault in (faults.launcher_killed, faults.rank_killed, faults.launches_at_once):
        times = [fault(trial) for trial in range(args.trials)]
        good = [seconds for seconds in times if seconds is not None]
        failed += len(times) - len(good)
        longest = f", longest {max(good):.3f} s" if good else ""
        print(f"{fault.__name__}: {len(good)} of {len(times)}{longest}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
