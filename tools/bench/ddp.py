#!/usr/bin/env python3
"""Compares the time of a data-parallel step with Python's DistributedDataParallel.

    tools/bazel build //tools/bench:ddp_step
    python3 -m venv /tmp/bench && /tmp/bench/bin/pip install torch==2.13.0 numpy
    python3 tools/bench/ddp.py --python=/tmp/bench/bin/python

MLP 784-1024-1024-10, AdamW, batch 128 per rank, one thread each. All programs stay alive and run
short turns one after the other, so that other load slows down all of them; the result is the
median ratio of consecutive turns. Processor time is that of all threads of all ranks, which other
programs disturb less. --backends=ddp,zero1,zero2,fsdp compares our backends with the first of them
instead, without Python. --trace=FILE also writes a Chrome trace and prints how much of the gradient
exchange overlapped with backward.
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


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

    def turn(self, steps):
        """Milliseconds per step: of the slowest rank, and of processor time in all."""
        before = self.processor_seconds()
        for rank in self.ranks:
            print(steps, file=rank.stdin, flush=True)
        slowest = max(float(rank.stdout.readline()) for rank in self.ranks)
        return slowest, (self.processor_seconds() - before) * 1000 / steps

    def end(self):
        for rank in self.ranks:
            rank.stdin.close()
        return [rank.wait() for rank in self.ranks]


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=str(HERE.parent.parent / "bazel-bin/tools/bench/ddp_step"))
    parser.add_argument("--python", default="python3", help="one that has torch")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20, help="per turn")
    parser.add_argument("--turns", type=int, default=21)
    parser.add_argument("--backends", default="", help="names with commas: compare these")
    parser.add_argument("--trace", default="")
    flags = parser.parse_args()
    script = str(HERE / "ddp_step.py")
    binary = [flags.binary] + (["--trace=" + flags.trace] if flags.trace else [])
    if flags.backends:
        programs = [
            Program("trainyard " + name, binary + ["--backend=" + name], flags.ranks)
            for name in flags.backends.split(",")]
    else:
        programs = [
            Program("trainyard ddp", binary, flags.ranks),
            Program("Python DDP, AdamW(fused=True)", [flags.python, script, "fused"], flags.ranks),
            Program("Python DDP, AdamW()", [flags.python, script, "default"], flags.ranks),
        ]
    turns = [[] for _ in programs]
    for turn in range(flags.turns + 1):
        for program, own in zip(programs, turns):
            milliseconds = program.turn(flags.steps)
            if turn > 0:  # the first one warms up
                own.append(milliseconds)
    print("%-32s %9s %7s %15s %7s" % ("", "ms/step", "ratio", "processor ms", "ratio"))
    for program, own in zip(programs, turns):
        row = []
        for kind in (0, 1):
            row.append(statistics.median(t[kind] for t in own))
            row.append(statistics.median(
                b[kind] / a[kind] if flags.backends else a[kind] / b[kind]
                for a, b in zip(turns[0], own)))
        print("%-32s %9.2f %7.3f %15.2f %7.3f" % (program.name, *row))
    print("ratio: this program's time by that of the first" if flags.backends
          else "ratio: trainyard's time by this program's")
    codes = [code for program in programs for code in program.end()]
    if any(codes):
        raise SystemExit("a rank ended with %s" % max(codes))
    if flags.trace:
        total, hidden = overlap(flags.trace)
        print("exchange of gradients in the trace: %.2f ms, of it %.2f ms (%.0f %%) during backward functions"
              % (total, hidden, 100 * hidden / total))


if __name__ == "__main__":
    main()
