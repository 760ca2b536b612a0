#!/usr/bin/env python3
"""Kills a writer with SIGKILL at random moments until its run is through, and reads what is there.

    kill_check.py WRITE_SAMPLE [--trials=N] [--steps=N]

Every step must be in each file once, in order, and no line may be torn. The event file is
read by a few lines of Python here; tensorboard_check.py asks TensorBoard itself.
"""
import argparse
import csv
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile


def event_steps(path):
    """The steps of the records with numbers in an event file."""
    steps = []
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        message = data[at + 12:at + 12 + size]
        assert len(message) == size, "a torn record"
        at += size + 16
        # After the time: field 2, the step, in 7 bits a byte; then field 5.
        if message[9] == 0x10:
            step, shift, i = 0, 0, 10
            while True:
                step |= (message[i] & 127) << shift
                shift += 7
                i += 1
                if message[i - 1] < 128:
                    break
            if b"loss" in message and b"hparams" not in message:
                steps.append(step)
    return steps


def check(folder, steps):
    wanted = list(range(1, steps + 1))
    with open(f"{folder}/metrics.jsonl") as file:
        rows = [json.loads(line) for line in file]
    assert [row["step"] for row in rows] == wanted, "metrics.jsonl"
    assert all(row["loss"] == 1 / row["step"] for row in rows)
    with open(f"{folder}/metrics.csv", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["step", "time", "name", "value"]
    assert all(len(line) == 4 for line in lines)
    assert [int(line[0]) for line in lines[1::2]] == wanted, "metrics.csv"
    assert all(float(line[3]) == math.sqrt(int(line[0])) for line in lines[2::2])
    assert event_steps(f"{folder}/tensorboard/events.out.tfevents.trainyard") == wanted, "event file"


def trial(writer, steps):
    """How often it was killed."""
    kills = 0
    with tempfile.TemporaryDirectory() as folder:
        while True:
            process = subprocess.Popen([writer, folder, str(steps)])
            try:
                code = process.wait(timeout=random.uniform(0.0, 0.08))
                assert code == 0, f"the writer ended with {code}"
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
        check(folder, steps)
    return kills


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("writer")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    args = parser.parse_args()
    random.seed(args.seed)
    print(f"seed {args.seed}", flush=True)
    kills = sum(trial(os.path.abspath(args.writer), args.steps) for _ in range(args.trials))
    print(f"{args.trials} runs of {args.steps} steps, killed {kills} times: every step once in every file")
    sys.exit(kills == 0)


if __name__ == "__main__":
    main()
