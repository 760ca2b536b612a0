#!/usr/bin/env -S python3 -B
"""How the cost of a training step grows with callbacks, parameter tensors, metrics, ranks and records.

    tools/bazel run //tools/bench:growth
    tools/bazel run //tools/bench:growth -- --only=metrics,ranks

Counts instructions of a step by callgrind (package valgrind), which other programs do not disturb: those between two calls of
GrowthMark. Of several ranks it counts rank 0, the others run at full speed. Datasets over 1e7 records, and the start of an epoch, are
timed. Prints Markdown tables; ends with 1 if a slope grows.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

# The sizes of each table.
SIZES = {
    "callbacks": [0, 10, 30, 100],
    "tensors": [10, 50, 200, 500, 1000, 2000],
    "metrics": [0, 5, 20, 50],
    "ranks": [1, 2, 3, 4],
    "records": [10**3, 10**4, 10**5, 10**6, 10**7, 10**8],
}
WARMUP, STEPS = 20, 60
MOST_COUNTED = 10**7  # records; the order of more takes callgrind minutes
# How much more one more may cost at the end of a table than before, and what is noise in a step's cost.
TOLERANCE, NOISE = 1.3, 0.02


def run(program, ranks, flags, folder=None):
    """The output of rank 0; callgrind counts it, and writes to `folder`, if there is one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    processes = []
    for rank in range(ranks):
        variables = {} if ranks == 1 else {
            "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        command = [program, f"--backend={'ddp' if ranks > 1 else 'sp'}", f"--steps={STEPS}", *flags]
        if folder and rank == 0:
            command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--dump-before=GrowthMark", *command]
        processes.append(subprocess.Popen(
            command, env=os.environ | variables | {"OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    outputs = [process.communicate() for process in processes]
    for process, (_, errors) in zip(processes, outputs):
        if process.returncode != 0:
            raise SystemExit(f"growth: {' '.join(process.args)} failed:\n{errors[-2000:]}")
    return outputs[0][0]


def instructions(program, ranks, *flags):
    """Of one step."""
    with tempfile.TemporaryDirectory() as folder:
        run(program, ranks, flags, folder)
        # The first part ends after the warm-up, the second one after the last step.
        counted = (pathlib.Path(folder) / "out.2").read_text(encoding="utf-8")
    return int(re.search(r"^(?:totals|summary): (\d+)", counted, re.MULTILINE)[1]) / (STEPS - WARMUP)


def timed(program, *flags):
    return json.loads(run(program, 1, flags).partition("@@")[2])


def slopes(sizes, costs):
    return [(costs[i + 1] - costs[i]) / (sizes[i + 1] - sizes[i]) for i in range(len(sizes) - 1)]


def grows(sizes, costs):
    """Whether the cost grows faster than the size."""
    *before, last = slopes(sizes, costs)
    return (last - TOLERANCE * max(before)) * (sizes[-1] - sizes[-2]) > NOISE * costs[0]


def thousands(value):
    return f"{value:,.0f}"


def table(program, what, sizes):
    """Prints one table; returns whether the cost grows faster than the size."""
    if what == "records":
        return records_table(program, sizes)
    costs, head = [], [what, "instructions per step", "more for each one more"]
    gradients = []
    for size in sizes:
        ranks, flags = (size, []) if what == "ranks" else (1, [f"--{what}={size}"])
        costs.append(instructions(program, ranks, *flags))
        if what == "tensors":
            gradients.append(instructions(program, 1, *flags, "--gradients_only"))
    own = costs
    if gradients:
        head += ["of it for gradients", "without gradients, more for each one more"]
        own = [cost - part for cost, part in zip(costs, gradients)]
    print("| " + " | ".join(head) + " |\n|" + " ---: |" * len(head))
    for i, size in enumerate(sizes):
        cells = [thousands(size), thousands(costs[i]), thousands(slopes(sizes, costs)[i - 1]) if i else ""]
        if gradients:
            cells += [thousands(gradients[i]), thousands(slopes(sizes, own)[i - 1]) if i else ""]
        print("| " + " | ".join(cells) + " |")
    print(flush=True)
    return grows(sizes, own)


def records_table(program, sizes):
    print("| records | instructions per step | time of a step, us | start of the first epoch, s | ns per record |\n|" + " ---: |" * 5)
    counts, smallest = [], timed(program, f"--records={sizes[0]}")["first_step_s"]
    for size in sizes:
        count = instructions(program, 1, f"--records={size}") if size <= MOST_COUNTED else None
        time = timed(program, f"--records={size}")
        begin = time["first_step_s"] - smallest
        if count:
            counts.append(count)
        print(f"| {thousands(size)} | {thousands(count) if count else ''} | {time['step_us']:.0f} | {time['first_step_s']:.3f} | "
              f"{1e9 * begin / size:.0f} |" if size >= 10**5 else
              f"| {thousands(size)} | {thousands(count)} | {time['step_us']:.0f} | {time['first_step_s']:.3f} | |", flush=True)
    print()
    return counts[-1] > (1 + NOISE) * counts[0]


def main():
    parser = argparse.ArgumentParser(prog="tools/bazel run //tools/bench:growth --", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)  # given by the Bazel target
    parser.add_argument("--only", default=",".join(SIZES), help="tables to make (default: %(default)s)")
    parser.add_argument("--sizes", default="", help="of one table, in place of its own: e.g. --only=tensors --sizes=10,100,1000")
    flags = parser.parse_args()
    chosen = flags.only.split(",")
    unknown = [what for what in chosen if what not in SIZES]
    if unknown:
        parser.error(f"--only={flags.only}: {unknown[0]} is none of {', '.join(SIZES)}")
    if flags.sizes and (len(chosen) != 1 or flags.sizes.count(",") < 2):
        parser.error("--sizes: must be at least three, of one table that --only chooses")
    if shutil.which("valgrind") is None:
        parser.error("valgrind is not installed")
    program = str(pathlib.Path(flags.program).absolute())
    sizes = {chosen[0]: [int(size) for size in flags.sizes.split(",")]} if flags.sizes else {what: SIZES[what] for what in chosen}
    growing = [what for what in chosen if table(program, what, sizes[what])]
    if growing:
        sys.exit(f"growth: the cost of one more grows with the number of {', '.join(growing)}")


if __name__ == "__main__":
    main()
