#!/usr/bin/env python3
"""Ends training jobs of a real Slurm in every way that a scheduler knows, and checks that they resume.

    slurm_faults.py LAUNCH TRAIN_LOOP PACKAGES [--trials=N] [--faults=train,signal,…]

train       a job that nothing disturbs
signal      SIGUSR1 to all tasks (as --signal=USR1@60 does); the script submits the job again
to_script   SIGUSR1 to the script alone (as --signal=B:USR1@60 does), which passes it on
requeue     scontrol requeue while the job trains
node_down   a whole node dies (power cut); the node comes back, and Slurm requeues the job
slurmd      only the daemon of a node dies, and its rank goes on; Slurm takes the node for dead
time_limit  the job knows when it must end, saves before, and the script asks for the next part
own_limit   Slurm's own limit, three minutes, with --signal=USR1@60, for a job that needs more; not among the default ones

Two nodes, one rank on each. Every job must end with the state of the same ranks as threads of one process, never
interrupted. Prints a line per trial; every wait has a limit. Exit code 1 if one does not.
"""

import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hosts  # noqa: E402
import slurm  # noqa: E402

# sbatch runs this again after a requeue: srun ends with 3 if the run has saved and wants to go on, and with 138 if SIGUSR1
# came before the program had a handler.
SCRIPT = """#!/bin/bash
export OMP_NUM_THREADS=1
{before}
{srun}
echo "script: srun ended with $code"
[ $code != 3 -a $code != 138 ] || scontrol requeue $SLURM_JOB_ID
exit $code
"""
SRUN = """srun --wait=60 {command}
code=$?"""
# A signal ends bash's wait, but not srun.
SRUN_WITH_TRAP = """trap 'scancel --signal=USR1 "$SLURM_JOB_ID"' USR1
srun --wait=60 {command} &
while kill -0 $! 2>/dev/null; do wait $!; code=$?; done"""


def crc_of(text: str) -> str | None:
    found = re.findall(r"state_crc32c ([0-9a-f]{8})", text)
    return found[-1] if found else None


class Faults:

    def __init__(self, options: argparse.Namespace, work: str):
        self.options = options
        self.work = pathlib.Path(work)
        self.random = random.Random(options.seed)
        self.cluster = hosts.Hosts(2)
        self.slurm = slurm.Slurm(self.cluster, cred_expire=options.cred_expire)
        # A time limit makes about four parts of a run, on a busy machine more.
        self.limit = 240 + 8 * options.cred_expire
        self.train = [options.train_loop, "--dropout=0", f"--updates={options.updates}", "--timeout=60",
                      f"--step_ms={options.step_ms}"]
        begin = time.monotonic()
        done = subprocess.run([*self.train, "--threads=2", f"--run_dir={self.work}/one"], capture_output=True, text=True,
                              timeout=240,
                              env=os.environ | {"OMP_NUM_THREADS": "1"})
        self.duration = time.monotonic() - begin
        self.expected = crc_of(done.stdout)
        if self.expected is None:
            raise SystemExit(f"the program does not run: {done.stdout}{done.stderr}")
        print(f"one process: {self.duration:.1f} s, state_crc32c {self.expected}", flush=True)

    def submit(self, name: str, before: str = "", srun: str = SRUN, arguments: tuple[str, ...] = (),
               options: tuple[str, ...] = ()) -> tuple[int, pathlib.Path]:
        output = self.work / f"{name}.out"
        command = " ".join([*self.train, f"--run_dir={self.work}/{name}", *arguments])
        job = self.slurm.submit(SCRIPT.format(srun=srun.format(command=command), before=before), "-N2", "--ntasks-per-node=1", "--requeue",
                                f"--output={output}", "--open-mode=append", *options)
        return job, output

    def wait_for_update(self, output: pathlib.Path, update: int) -> None:
        end = time.monotonic() + 120
        while not (output.exists() and f"saved {update}\n" in output.read_text()):
            if time.monotonic() > end:
                raise AssertionError("the job does not train: " + (output.read_text() if output.exists() else "no output"))
            time.sleep(0.05)

    def finish(self, job: int, output: pathlib.Path, restarts: int | None, longer: float = 0) -> str | None:
        """What is wrong with the end of the job, or None."""
        state = self.slurm.wait_for_state(job, ("COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "CANCELLED"),
                                          limit=self.limit + longer)
        text = output.read_text()
        if state["JobState"] != "COMPLETED" or crc_of(text) != self.expected:
            return f"{state['JobState']} {state['ExitCode']}\n{text}"
        if restarts is not None and int(state["Restarts"]) != restarts:
            return f"{state['Restarts']} restarts, not {restarts}\n{text}"
        return None

    def some_update(self) -> int:
        return self.random.randint(1, max(1, self.options.updates // 2))

    def run_train(self, name: str) -> str | None:
        return self.finish(*self.submit(name), restarts=0)

    def run_signal(self, name: str) -> str | None:
        job, output = self.submit(name)
        self.wait_for_update(output, self.some_update())
        subprocess.run(["scancel", "--signal=USR1", f"{job}"], check=True, timeout=hosts.LIMIT)
        return self.finish(job, output, restarts=1)

    def run_to_script(self, name: str) -> str | None:
        job, output = self.submit(name, srun=SRUN_WITH_TRAP)
        self.wait_for_update(output, self.some_update())
        subprocess.run(["scancel", "--batch", "--signal=USR1", f"{job}"], check=True, timeout=hosts.LIMIT)
        return self.finish(job, output, restarts=1)

    def run_requeue(self, name: str) -> str | None:
        job, output = self.submit(name)
        self.wait_for_update(output, self.some_update())
        subprocess.run(["scontrol", "requeue", f"{job}"], check=True, timeout=hosts.LIMIT)
        return self.finish(job, output, restarts=1)

    def run_node_down(self, name: str) -> str | None:
        job, output = self.submit(name)
        self.wait_for_update(output, self.some_update())
        victim = self.random.choice(self.cluster.hosts)
        victim.kill()
        # It is repaired once Slurm has noticed.
        self.wait_until_noticed(job)
        victim.boot()
        self.slurm.start_node(victim)
        return self.finish(job, output, restarts=None)

    def run_slurmd(self, name: str) -> str | None:
        job, output = self.submit(name)
        self.wait_for_update(output, self.some_update())
        victim = self.random.choice(self.cluster.hosts)
        # Not the processes of the job, which have other names.
        victim.run(["pkill", "-KILL", "-x", "slurmd"], check=True)
        self.wait_until_noticed(job)
        self.slurm.start_node(victim)
        return self.finish(job, output, restarts=None)

    def run_own_limit(self, name: str) -> str | None:
        # Slurm may send the signal up to a minute early: after one to two minutes, and not while the program is loaded.
        job, output = self.submit(name, arguments=(f"--step_ms={150000 // self.options.updates}",),
                                  options=("--time=3", "--signal=USR1@60"))
        wrong = self.finish(job, output, restarts=None, longer=600)
        if wrong is None and "script: srun ended with 3\n" not in output.read_text():
            wrong = f"the job was not cut short\n{output.read_text()}"
        return wrong

    def wait_until_noticed(self, job: int) -> None:
        end = time.monotonic() + 120
        while (state := self.slurm.job(job))["JobState"] == "RUNNING" and int(state["Restarts"]) == 0:
            if time.monotonic() > end:
                raise AssertionError("Slurm does not notice that the node is down")
            time.sleep(0.2)

    def run_time_limit(self, name: str) -> str | None:
        # The first part has two thirds of the time that all took in one process. Each further one has more: on a busy
        # machine a short one would end before its first update, and the job never.
        seconds = max(2, int(self.duration * 2 / 3))
        job, output = self.submit(
            name, f"export TRAINYARD_JOB_END_TIME=$(($(date +%s) + {seconds} * (1 + ${{SLURM_RESTART_COUNT:-0}})))\n"
            "export TRAINYARD_JOB_END_MARGIN=2")
        wrong = self.finish(job, output, restarts=None)
        if wrong is None and "script: srun ended with 3\n" not in output.read_text():
            wrong = f"the job was not cut short\n{output.read_text()}"
        return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("launch", type=os.path.abspath)
    parser.add_argument("train_loop", type=os.path.abspath)
    parser.add_argument("packages", type=os.path.abspath)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--faults", default="train,signal,to_script,requeue,node_down,slurmd,time_limit")
    parser.add_argument("--cred_expire", type=int, default=5, help="of Slurm, whose own default is 120")
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--step_ms", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    hosts.enter(__file__, options.packages, slurm.PROGRAMS)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="trainyard-slurm-") as work:
        faults = Faults(options, work)
        for fault in options.faults.split(","):
            good = 0
            for trial in range(options.trials):
                begin = time.monotonic()
                try:
                    wrong = getattr(faults, f"run_{fault}")(f"{fault}{trial}")
                except (AssertionError, RuntimeError, subprocess.SubprocessError) as error:
                    wrong = f"{type(error).__name__}: {error}"
                good += wrong is None
                print(f"{fault}, trial {trial}, {time.monotonic() - begin:.1f} s: {wrong or 'equal'}", flush=True)
            print(f"{fault}: {good} of {options.trials} ended bitwise equal to one process", flush=True)
            failed += options.trials - good
        for host in faults.cluster:
            host.kill()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
