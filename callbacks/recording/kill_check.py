#!/usr/bin/env python3
"""Ends a tracked training run by SIGKILL at random moments until it is through, again and again, and
compares what it wrote with what a run that was never stopped wrote.

    kill_check.py [--kills=50] "bazel-bin/tools/examples/fashion_mnist --epochs=40 --run_dir={run_dir}"

Every row of metrics.jsonl and metrics.csv must be there once, in order and with the same values, but for
times; no line may be torn. With PyPI's tensorboard, the event file must have the same numbers, too.
"""
import argparse
import csv
import json
import random
import shlex
import subprocess
import sys
import tempfile
import time

try:
    from tensorboard.backend.event_processing import event_accumulator
except ImportError:
    event_accumulator = None

CLOCKED = ("time", "samples_per_second", "epoch/seconds", "epoch/eval_seconds")


def json_rows(folder):
    with open(f"{folder}/metrics.jsonl") as file:
        text = file.read()
    assert text.endswith("\n"), "a torn line"
    rows = [json.loads(line) for line in text.splitlines()]
    return [{name: value for name, value in row.items() if name not in CLOCKED} for row in rows]


def csv_rows(folder):
    with open(f"{folder}/metrics.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(None not in row and None not in row.values() for row in rows), "a torn line"
    return [(row["step"], row["name"], row["value"]) for row in rows if row["name"] not in CLOCKED]


def scalars(folder):
    if event_accumulator is None:
        return None
    run = event_accumulator.EventAccumulator(f"{folder}/tensorboard", size_guidance={event_accumulator.SCALARS: 0})
    run.Reload()
    return {tag: [(event.step, event.value) for event in run.Scalars(tag)]
            for tag in run.Tags()["scalars"] if tag not in CLOCKED}


def run_through(command, longest, rng, kill):
    """Runs the command until it ends well; how often it was killed."""
    kills = 0
    while True:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            _, said = process.communicate(timeout=rng.uniform(0, longest) if kill else None)
            assert process.returncode == 0, said
            return kills
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as home:
        of = lambda folder: shlex.split(options.command.replace("{run_dir}", folder))
        start = time.monotonic()
        run_through(of(f"{home}/straight"), None, rng, kill=False)
        seconds = time.monotonic() - start
        wanted = [read(f"{home}/straight") for read in (json_rows, csv_rows, scalars)]
        print(f"never stopped: {seconds:.1f} s, {len(wanted[0])} rows, {len(wanted[1])} lines of CSV", flush=True)
        runs, kills = 0, 0
        while kills < options.kills:
            folder = f"{home}/run-{runs}"
            kills += run_through(of(folder), seconds / 2, rng, kill=True)
            runs += 1
            for name, read, rows in zip(("metrics.jsonl", "metrics.csv", "the event file"),
                                        (json_rows, csv_rows, scalars), wanted):
                assert read(folder) == rows, f"{name} of {folder} differs"
    with_events = "" if event_accumulator is None else " and event file"
    print(f"{runs} runs, killed {kills} times: every row once, equal to the straight run's in JSON, CSV{with_events}")


if __name__ == "__main__":
    sys.exit(main())
