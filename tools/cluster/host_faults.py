#!/usr/bin/env python3
"""Kills random processes of a training on several hosts and checks that the launchers bring it to the same end.

    host_faults.py kill LAUNCH TRAIN_LOOP [--trials=30]
    host_faults.py cut LAUNCH TRAIN_LOOP [--trials=5]
    host_faults.py elastic LAUNCH TRAIN_LOOP [--trials=3]

kill     3 hosts train together; at a random moment a rank, a launcher or a whole host, any of them, is killed. A launcher or
         host is started again, as a scheduler does. The run must end with the state of one that was never disturbed.
cut      the same with the network cable of a random host, for longer than the launchers wait for a sign of life
elastic  4 hosts with --nnodes=3:4; one dies and stays away for a while, so that 3 go on; it comes back and is taken in at the
         next restart (a rank is killed). Each update must see the samples of a run that had 4 hosts all the time, each epoch
         each sample once, and the end must be bitwise equal to that of a run which was told to go on with 3 and with 4
         hosts after the same updates, and in which nothing failed.

Hosts are namespaces of this machine (hosts.py). Prints a line per trial. Every wait has a limit: a trial that exceeds it fails, with
the output of all launchers. Exit code 1 if any trial fails.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hosts  # noqa: E402

PORT = 29500
# What train_loop trains on.
SAMPLES = 256
BATCH = 24
UPDATES_PER_EPOCH = -(-SAMPLES // BATCH)


def crc_of(text: str) -> str | None:
    found = re.findall(r"state_crc32c ([0-9a-f]{8})", text)
    return found[-1] if found else None


class Job:
    """A launcher on each host, with its output in a file."""

    def __init__(self, cluster: hosts.Hosts, folder: pathlib.Path, options: argparse.Namespace, nodes: str,
                 count: int | None = None):
        self.cluster, self.folder, self.options, self.nodes = cluster, folder, options, nodes
        folder.mkdir(exist_ok=True)
        self.launchers: dict[int, subprocess.Popen] = {}
        for node in range(count or len(cluster)):
            self.start(node)

    def start(self, node: int) -> None:
        command = [self.options.launch, "--nproc=1", f"--nnodes={self.nodes}", f"--node_rank={node}",
                   f"--master_addr={self.cluster[0].address}", f"--master_port={PORT}", "--max_restarts=20",
                   "--backoff=0.1", "--join_wait=3", "--silence=6", f"--log_dir={self.folder}/logs{node}", "--",
                   self.options.train_loop, f"--run_dir={self.folder}/run", f"--updates={self.options.updates}",
                   "--timeout=30", f"--step_ms={self.options.step_ms}", *self.options.train]
        with open(self.output(node), "a") as file:
            self.launchers[node] = self.cluster[node].start(command, stdout=file, stderr=subprocess.STDOUT)

    def output(self, node: int) -> pathlib.Path:
        return self.folder / f"node{node}.out"

    def text(self) -> str:
        return "\n".join(f"--- node {node}\n{self.output(node).read_text()}" for node in self.launchers)

    def parts(self) -> list[tuple[int, int]]:
        """Number of ranks and first update of each start that has trained. It saves after every update."""
        parts: list[tuple[int, int]] = []
        ranks = None
        for line in self.output(0).read_text().splitlines():
            if match := re.search(r"start \d+: ranks \d+ to \d+ of (\d+),", line):
                ranks = int(match[1])
            elif ranks is not None and (match := re.search(r"saved (\d+)$", line)):
                parts.append((ranks, int(match[1])))
                ranks = None
        return parts

    def processes(self, node: int, name: str) -> list[int]:
        """The processes of a host that run this program, oldest first."""
        found = self.cluster[node].run(["pgrep", "-x", name], capture_output=True, text=True).stdout.split()
        return sorted(int(pid) for pid in found)

    def kill(self, node: int, pid: int) -> None:
        self.cluster[node].run(["kill", "-KILL", str(pid)], check=True)

    def wait_for(self, pattern: str, node: int, limit: float = 120) -> None:
        end = time.monotonic() + limit
        while not re.search(pattern, self.output(node).read_text()):
            if time.monotonic() > end:
                raise AssertionError(f"no {pattern!r} from node {node} in {limit} s\n{self.text()}")
            if self.launchers[node].poll() is not None:
                raise AssertionError(f"node {node} ended before {pattern!r}\n{self.text()}")
            time.sleep(0.05)

    def wait_for_launcher(self, node: int, limit: float = 60) -> None:
        """Until the launcher of a node, which was killed, has ended."""
        try:
            self.launchers[node].wait(limit)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the launcher of node {node} has not ended {limit} s after it was killed\n{self.text()}") from None

    def is_over(self) -> bool:
        return crc_of(self.output(0).read_text()) is not None

    def end(self, limit: float = 240) -> str | None:
        """What is wrong with the end, or None."""
        until = time.monotonic() + limit
        for node, launcher in self.launchers.items():
            try:
                launcher.wait(max(1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                return f"node {node} has not ended after {limit} s\n{self.text()}"
        codes = [launcher.returncode for launcher in self.launchers.values()]
        return None if not any(codes) else f"exit codes {codes}\n{self.text()}"


class TooLate(Exception):
    """The run was over before the fault: nothing was tried. A launcher that is started again then waits for the others."""


class Faults:

    def __init__(self, options: argparse.Namespace, work: str):
        self.options = options
        self.work = pathlib.Path(work)
        self.random = random.Random(options.seed)
        self.counts: collections.Counter[str] = collections.Counter()
        # What the last trial did.
        self.did = ""
        self.cluster = hosts.Hosts(4 if options.fault == "elastic" else 3)
        self.options.train = [f"--batch={BATCH}"]
        if options.fault == "elastic":
            self.options.train.append(f"--sample_log={self.samples('reference')}")
        reference = Job(self.cluster, self.work / "reference", options, str(len(self.cluster)))
        begin = time.monotonic()
        wrong = reference.end()
        self.expected = crc_of(reference.text())
        if wrong is not None or self.expected is None:
            raise SystemExit(f"the program does not run: {wrong}")
        print(f"never disturbed, {len(self.cluster)} hosts: {time.monotonic() - begin:.1f} s, state_crc32c {self.expected}",
              flush=True)

    def samples(self, name: str) -> pathlib.Path:
        folder = self.work / f"samples-{name}"
        folder.mkdir()
        return folder

    def same_end(self, job: Job) -> str | None:
        wrong = job.end()
        if wrong is None and crc_of(job.text()) != self.expected:
            wrong = f"state_crc32c {crc_of(job.text())}\n{job.text()}"
        return wrong

    def disturbed(self, trial: int) -> Job:
        """A job that has come to a random update."""
        update = self.random.randint(1, self.options.updates // 2)
        self.did = f"nothing before update {update}"
        job = Job(self.cluster, self.work / f"trial{trial}", self.options, str(len(self.cluster)))
        job.wait_for(f"saved {update}\n", node=0)
        return job

    def kill(self, trial: int) -> str | None:
        job = self.disturbed(trial)
        node = self.random.randrange(len(self.cluster))
        what = self.random.choice(["rank", "launcher", "inner launcher", "host"])
        self.did = f"killed {what} of node {node}"
        if what == "host":
            self.cluster[node].kill()
            job.wait_for_launcher(node)
            over = job.is_over()
            self.cluster[node].boot()
        else:
            processes = job.processes(node, "train_loop" if what == "rank" else "launch_only")
            over = job.is_over()
            if not processes and not over:
                raise AssertionError(f"node {node} has no {what}\n{job.text()}")
            if not over:
                # The oldest launcher is the process that was started; the youngest has the ranks.
                job.kill(node, processes[-1 if what == "inner launcher" else 0])
                if what != "rank":
                    job.wait_for_launcher(node)
                over = job.is_over()
        if over:
            raise TooLate
        self.counts[what] += 1
        if what != "rank":
            job.start(node)
        return self.same_end(job)

    def cut(self, trial: int) -> str | None:
        job = self.disturbed(trial)
        node = self.random.randrange(len(self.cluster))
        self.did = f"cut the network of node {node}"
        self.cluster[node].cut()
        # Both sides must have noticed.
        time.sleep(10)
        self.cluster[node].restore()
        return self.same_end(job)

    def elastic(self, trial: int) -> str | None:
        self.options.train = [f"--batch={BATCH}", f"--sample_log={self.samples(str(trial))}"]
        self.did = "nothing"
        job = Job(self.cluster, self.work / f"trial{trial}", self.options, f"3:{len(self.cluster)}")
        # In the first third and in the second.
        third = self.options.updates // 3
        leaves = self.random.randint(2, third)
        comes_back = leaves + self.random.randint(2, third)
        job.wait_for(f"saved {leaves}\n", node=0)
        victim = self.random.randrange(1, len(self.cluster))
        self.cluster[victim].kill()
        self.did = f"killed node {victim}"
        job.wait_for_launcher(victim)
        job.wait_for("start 2: ranks 0 to 0 of 3,", node=0)
        job.wait_for(f"saved {comes_back}\n", node=0)
        self.cluster[victim].boot()
        job.start(victim)
        job.wait_for(f"saved {comes_back + 2}\n", node=0)
        job.kill(0, job.processes(0, "train_loop")[0])
        job.wait_for("start 3: ranks 0 to 0 of 4,", node=0)
        wrong = job.end()
        parts = job.parts()
        if wrong is None and [ranks for ranks, _ in parts] != [4, 3, 4]:
            wrong = f"it had {parts} (ranks, first update), not 4, 3 and 4 ranks\n{job.text()}"
        return wrong or self.compare_samples(str(trial), parts) or self.compare_end(trial, parts, crc_of(job.text()))

    def compare_end(self, trial: int, parts: list[tuple[int, int]], crc: str | None) -> str | None:
        """A run with as many hosts for as many updates, which stops and goes on instead of failing."""
        log = self.samples(f"{trial}-planned")
        ends = [first - 1 for _, first in parts[1:]] + [0]
        planned = None
        for (ranks, _), end in zip(parts, ends):
            self.options.train = [f"--batch={BATCH}", f"--sample_log={log}", f"--stop_at={end}"]
            planned = Job(self.cluster, self.work / f"planned{trial}", self.options, str(ranks), count=ranks)
            if (wrong := planned.end()) is not None:
                return f"the planned run: {wrong}"
        expected = crc_of(planned.text())
        self.did = f"{parts} (ranks, first update) ended with {crc}, planned {expected}"
        return None if crc == expected else "these differ"

    def seen(self, name: str) -> dict[int, dict[int, list[list[int]]]]:
        """By update and rank: the samples of each time that it was trained."""
        found: dict[int, dict[int, list[list[int]]]] = collections.defaultdict(lambda: collections.defaultdict(list))
        files = sorted((self.work / f"samples-{name}").iterdir(), key=lambda path: path.stat().st_mtime)
        for path in files:
            rank = int(re.match(r"rank(\d+)", path.name)[1])
            for line in path.read_text().splitlines():
                update, _, numbers = line.partition(":")
                found[int(update)][rank].append([int(number) for number in numbers.split()])
        return found

    def compare_samples(self, name: str, parts: list[tuple[int, int]]) -> str | None:
        want, got = self.seen("reference"), self.seen(name)
        epoch: list[int] = []
        for update in range(1, self.options.updates + 1):
            expected = sorted(number for times in want[update].values() for number in times[-1])
            ranks = [ranks for ranks, first in parts if first <= update][-1]
            # The last time that an update was trained is the one that counts.
            last = sorted(number for rank in range(ranks) if got[update][rank] for number in got[update][rank][-1])
            if last != expected:
                return f"update {update} saw {dict(got[update])}, not {expected}"
            epoch += last
            if update % UPDATES_PER_EPOCH == 0:
                if sorted(epoch) != list(range(SAMPLES)):
                    return f"the epoch that ends with update {update} saw {sorted(epoch)}"
                self.counts["epochs"] += 1
                epoch = []
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", choices=["kill", "cut", "elastic"])
    parser.add_argument("launch", type=os.path.abspath)
    parser.add_argument("train_loop", type=os.path.abspath)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--updates", type=int, default=3 * UPDATES_PER_EPOCH)
    parser.add_argument("--step_ms", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    hosts.enter(__file__)
    os.environ["OMP_NUM_THREADS"] = "1"
    good = late = 0
    with tempfile.TemporaryDirectory(prefix="trainyard-hosts-") as work:
        faults = Faults(options, work)
        for trial in range(options.trials):
            begin, wrong = time.monotonic(), "too late"
            while wrong == "too late":
                try:
                    wrong = getattr(faults, options.fault)(trial)
                except TooLate:
                    late += 1
                    faults.cluster.reboot()
                    shutil.rmtree(faults.work / f"trial{trial}")
                except (AssertionError, RuntimeError, subprocess.SubprocessError) as error:
                    wrong = f"{type(error).__name__}: {error}"
            good += wrong is None
            print(f"trial {trial}, {time.monotonic() - begin:.1f} s: {faults.did}: {wrong or 'equal'}", flush=True)
            if wrong is not None:
                faults.cluster.reboot()
        for host in faults.cluster:
            host.kill()
    what = {"kill": f"kills ({dict(faults.counts)}) ended bitwise equal", "cut": "cuts ended bitwise equal",
            "elastic": f"runs with 4, 3 and 4 hosts saw the same samples (each once in {faults.counts['epochs']} epochs) and ended "
                       "bitwise equal to planned ones"}[options.fault]
    print(f"{good} of {options.trials} {what}" + (f"; {late} more came too late" if late else ""), flush=True)
    return 0 if good == options.trials else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
