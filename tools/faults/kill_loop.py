#!/usr/bin/env python3
"""Kills a training program with SIGKILL at random moments, and starts it again.

    python3 tools/faults/kill_loop.py --trials=200
    python3 tools/faults/kill_loop.py --trials=200 --summary={run_dir}/summary.json \\
        --command="bazel-bin/tools/examples/fashion_mnist --run_dir={run_dir} --checkpoint_every=1 --max_updates=30"

Each trial uses a new folder. The program is killed after a random part of its running time; all
listed checkpoints must be valid; the same command must then succeed and end with the state of an
uninterrupted run. Exit code 1 if any trial fails.
"""

import random
import subprocess
import sys
import time

import program


def main() -> int:
    options = program.arguments(__doc__, trials=200).parse_args()
    trained = program.Program(options)
    reference_dir = trained.fresh("reference")
    begin = time.monotonic()
    reference = subprocess.Popen(trained.argv(reference_dir), stdout=subprocess.PIPE, text=True)
    while not reference_dir.exists() and reference.poll() is None:
        time.sleep(0.005)
    started = time.monotonic() - begin
    output, _ = reference.communicate()
    duration = time.monotonic() - begin
    expected = trained.crc(reference_dir, output)
    if reference.returncode != 0 or expected is None:
        print("the program does not run")
        return 1
    print(f"never stopped: {duration:.2f} s, {started:.2f} of them to start; state_crc32c {expected}")

    rng = random.Random(options.seed)
    counts = dict.fromkeys(["killed", "in_a_save", "sound", "resumed", "equal", "clean"], 0)
    for trial in range(options.trials):
        run_dir = trained.fresh("run")
        process = subprocess.Popen(trained.argv(run_dir), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            # One in ten while it starts, the others while it trains and saves.
            after = rng.uniform(0, started) if rng.random() < 0.1 else rng.uniform(started, duration)
            process.wait(timeout=after)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            counts["killed"] += 1
        counts["in_a_save"] += bool(program.half_done(run_dir))
        sound, _, said = program.verify(run_dir)
        counts["sound"] += sound
        again = trained.run(run_dir)
        counts["resumed"] += again.returncode == 0
        crc = trained.crc(run_dir, again.stdout)
        counts["equal"] += crc == expected
        counts["clean"] += not program.half_done(run_dir)
        if not sound or again.returncode != 0 or crc != expected:
            print(f"trial {trial}: {said}{again.stderr} state_crc32c {crc}", flush=True)
        if (trial + 1) % 20 == 0:
            print(f"{trial + 1} trials: {counts}", flush=True)
    print(
        f"{options.trials} trials, {counts['killed']} killed ({counts['in_a_save']} within a save): "
        f"{counts['resumed']} resumed without help, {counts['equal']} ended bitwise equal, "
        f"{options.trials - counts['sound']} listed a partial step, {counts['clean']} left nothing half done"
    )
    needed = ["sound", "resumed", "equal", "clean"]
    return 0 if all(counts[name] == options.trials for name in needed) else 1


if __name__ == "__main__":
    sys.exit(main())
