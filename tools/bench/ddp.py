#!/usr/bin/env python3
"""Compares data-parallel and sharded training with Python's counterparts: time of a step, or memory.

    tools/bazel build //tools/bench:ddp_step
    python3 -m venv /tmp/bench && /tmp/bench/bin/pip install torch==2.13.0 numpy
    python3 tools/bench/ddp.py --python=/tmp/bench/bin/python
    python3 tools/bench/ddp.py --python=/tmp/bench/bin/python --memory --ranks=4 --layers=24 --width=2048 --batch=8

An MLP 784-1024-1024-10 (--layers, --width), AdamW, batch 128 per rank, one thread each:

    ddp     DistributedDataParallel
    zero1   DistributedDataParallel and ZeroRedundancyOptimizer
    zero2   fully_shard(reshard_after_forward=False)
    fsdp    fully_shard

all in Python with AdamW(fused=True), where the form has it.

Time: all programs stay alive and run short turns one after the other, so that other load slows down all of
them; a ratio is the median of consecutive turns. Processor time is that of all threads of all ranks, which
other programs disturb less. --trace=FILE also writes a Chrome trace of the first program and prints how much
of the gradient exchange overlapped with backward.

--memory: one program after the other trains for some steps, and the table has megabytes per rank: bytes of
tensors after an update with the gradients still there, their largest sum, and the largest resident memory
(the mean over ranks; memory that ranks share counts in each).
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
BACKENDS = ("ddp", "zero1", "zero2", "fsdp")


class Program:
    """The ranks of one program."""

    def __init__(self, name, command, ranks):
        self.name = name
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        ours = command[0].endswith("ddp_step")
        if not ours:
            listening.close()  # Python binds it itself
        self.ranks = []
        for rank in range(ranks):
            variables = dict(
                os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
                LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
                OMP_NUM_THREADS="1")
            fds = ()
            if ours and rank == 0:
                fds = (listening.fileno(),)
                variables["TRAINYARD_STORE_FD"] = str(fds[0])
            self.ranks.append(subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables,
                pass_fds=fds))
        if ours:
            listening.close()

    def processor_seconds(self):
        ticks = 0
        for rank in self.ranks:
            with open(f"/proc/{rank.pid}/stat", encoding="ascii") as file:
                fields = file.read().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])  # user and system
        return ticks / os.sysconf("SC_CLK_TCK")

    def say(self, line):
        """Sends a line to all ranks: their answers."""
        for rank in self.ranks:
            print(line, file=rank.stdin, flush=True)
        answers = [rank.stdout.readline() for rank in self.ranks]
        if not all(answers):
            raise SystemExit(f"{self.name}: a rank has ended")
        return answers

    def turn(self, steps):
        """Milliseconds per step: of the slowest rank, and of processor time in all."""
        before = self.processor_seconds()
        slowest = max(float(answer) for answer in self.say(steps))
        return slowest, (self.processor_seconds() - before) * 1000 / steps

    def peak_rss(self):
        """Megabytes, the mean over ranks."""
        peaks = []
        for rank in self.ranks:
            with open(f"/proc/{rank.pid}/status", encoding="ascii") as file:
                peaks.append(next(int(line.split()[1]) for line in file if line.startswith("VmHWM")))
        return statistics.mean(peaks) / 1024

    def end(self):
        for rank in self.ranks:
            rank.stdin.close()
        codes = [rank.wait() for rank in self.ranks]
        if any(codes):
            raise SystemExit(f"{self.name}: a rank ended with {max(codes, key=abs)}")


def overlap(path):
    """(milliseconds of exchange, of it while a backward function ran) in a trace."""
    with open(path, encoding="utf-8") as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]
    spans = lambda test: [(e["ts"], e["ts"] + e["dur"]) for e in events if test(e["name"])]
    exchange = spans(lambda name: name.startswith("gloo:all_reduce"))
    backward = spans(lambda name: name.startswith("autograd::engine::evaluate_function"))
    total = sum(end - begin for begin, end in exchange)
    hidden = sum(
        max(0, min(end, b_end) - max(begin, b_begin))
        for begin, end in exchange for b_begin, b_end in backward)
    return total / 1000, hidden / 1000


def commands(flags):
    """(name, command) of each program: Trainyard's of a backend, then Python's."""
    network = [f"--layers={flags.layers}", f"--width={flags.width}", f"--batch={flags.batch}"]
    found = []
    for backend in flags.backends.split(","):
        if backend not in BACKENDS:
            raise SystemExit(f"--backends: {backend} is none of {', '.join(BACKENDS)}")
        trace = ["--trace=" + flags.trace] if flags.trace and not found else []
        found.append(("trainyard " + backend, [flags.binary, "--backend=" + backend, *network, *trace]))
        if flags.python:
            found.append(("Python " + backend, [flags.python, str(HERE / "ddp_step.py"), backend, *network]))
    return found


def measure_time(flags):
    programs = [Program(name, command, flags.ranks) for name, command in commands(flags)]
    turns = {program.name: [] for program in programs}
    for turn in range(flags.turns + 1):
        for program in programs:
            milliseconds = program.turn(flags.steps)
            if turn > 0:  # the first one warms up
                turns[program.name].append(milliseconds)
    first = programs[0].name
    print(f"| program | ms/step | ratio to {first} | Trainyard's ratio to it | processor ms | ratio to {first} |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, own in turns.items():

        def ratio(kind, below, above=own):
            return statistics.median(a[kind] / b[kind] for a, b in zip(above, turns[below]))

        ours = name.replace("Python", "trainyard")
        to_python = "%.3f" % statistics.median(a[0] / b[0] for a, b in zip(turns[ours], own)) if ours != name else ""
        print("| %s | %.2f | %.3f | %s | %.2f | %.3f |" % (
            name, statistics.median(t[0] for t in own), ratio(0, first), to_python,
            statistics.median(t[1] for t in own), ratio(1, first)))
    for program in programs:
        program.end()
    if flags.trace:
        total, hidden = overlap(flags.trace)
        print("exchange of gradients in the trace: %.2f ms, of it %.2f ms (%.0f %%) during backward functions"
              % (total, hidden, 100 * hidden / total))


def measure_memory(flags):
    print("| program | parameters | gradients | state | tensors after an update | most | resident, most |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, command in commands(flags):
        program = Program(name, command, flags.ranks)
        program.turn(flags.steps)
        answers = [json.loads(answer) for answer in program.say("memory")]
        mean = {key: statistics.mean(answer[key] for answer in answers) / 2**20 for key in answers[0]}
        text = lambda key: "%.0f" % mean[key] if key in mean else ""
        print("| %s | %s | %s | %s | %s | %s | %.0f |" % (
            name, text("parameters"), text("gradients"), text("state"), text("held"), text("peak"),
            program.peak_rss()), flush=True)
        program.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(HERE.parent.parent / "bazel-bin/tools/bench/ddp_step"))
    parser.add_argument("--python", default="", help="one that has torch; without it only Trainyard is measured")
    parser.add_argument("--backends", default=",".join(BACKENDS))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--layers", type=int, default=1, help="hidden layers of WIDTH x WIDTH")
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=128, help="per rank")
    parser.add_argument("--steps", type=int, default=20, help="per turn")
    parser.add_argument("--turns", type=int, default=21)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--trace", default="")
    flags = parser.parse_args()
    if not pathlib.Path(flags.binary).exists():
        raise SystemExit(f"{flags.binary} does not exist; build it: tools/bazel build //tools/bench:ddp_step")
    (measure_memory if flags.memory else measure_time)(flags)


if __name__ == "__main__":
    main()
