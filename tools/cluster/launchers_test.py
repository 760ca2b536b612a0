#!/usr/bin/env python3
"""Real launchers on hosts that are namespaces: what each process finds, and a training over hosts.

    launchers_test.py WHERE TRAIN_LOOP LAUNCH HANG PACKAGES

Slurm's srun in several forms, our launcher under srun, sbatch, mpirun of Open MPI and mpiexec of MPICH. Each
process prints its place (tools/launch:where). Then a network is trained data-parallel over two hosts by each of
them, also by train.sbatch, and must end with the state of the same ranks as threads of one process. A rank that is
frozen is found in the records of the run's folder.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hosts  # noqa: E402
import slurm  # noqa: E402

WHERE, TRAIN_LOOP, LAUNCH, HANG, PACKAGES = (os.path.abspath(path) for path in sys.argv[1:6])
READY_SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "train.sbatch")
MPI_PROGRAMS = ("mpirun.openmpi", "mpiexec.mpich")
TRAIN = [TRAIN_LOOP, "--dropout=0", "--updates=10"]
TIMEOUT = 120


def run(*command: str, **variables: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT,
                          env=os.environ | {"OMP_NUM_THREADS": "1"} | variables)
    return done.stdout


def places(output: str) -> list[str]:
    """"rank/size local/size address interface" of each process, in rank order."""
    found = re.findall(r"rank (\d+) of (\d+) \(.*?\): local rank (\d+) of (\d+), store at ([^:]*):\d+, "
                       r"messages over (\S+) ", output)
    if not found:
        raise AssertionError(output)
    return [f"{rank}/{size} {local}/{here} {address} {interface}"
            for rank, size, local, here, address, interface in sorted(found, key=lambda place: int(place[0]))]


def crc(output: str) -> str:
    found = re.findall(r"state_crc32c ([0-9a-f]{8})", output)
    if len(found) != 1:
        raise AssertionError(output)
    return found[0]


class Cluster:
    """Started once, for all tests."""

    def __init__(self):
        self.hosts = hosts.Hosts(2)
        self.slurm = slurm.Slurm(self.hosts)
        self.work = tempfile.TemporaryDirectory()
        self.folders = 0
        agent = pathlib.Path("/run/agent")
        agent.write_text(self.hosts.remote_shell())
        agent.chmod(0o755)
        self.openmpi = ["mpirun.openmpi", "--allow-run-as-root", "--mca", "plm_rsh_agent", str(agent)]
        self.mpich = ["mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", str(agent)]
        # Over the network three numbers are added in another order than in shared memory.
        self.expected = {ranks: crc(run(*self.train(), f"--threads={ranks}", TRAINYARD_SHARED_MEMORY="0")) for ranks in (2, 3)}
        print(f"one process: state_crc32c {self.expected}", flush=True)

    def train(self) -> list[str]:
        self.folders += 1
        return [*TRAIN, f"--run_dir={self.work.name}/{self.folders}", "--timeout=60", "--batch=24"]

    def srun(self, *options: str) -> list[str]:
        return places(run("srun", *options, WHERE))


class SlurmTest(unittest.TestCase):

    def test_srun(self):
        over_two = ["0/4 0/2 n1 eth0", "1/4 1/2 n1 eth0", "2/4 0/2 n1 eth0", "3/4 1/2 n1 eth0"]
        self.assertEqual(cluster.srun("-N2", "--ntasks-per-node=2"), over_two)
        # Slurm fills the first node here.
        self.assertEqual(cluster.srun("-N2", "-n4"),
                         ["0/4 0/3 n1 eth0", "1/4 1/3 n1 eth0", "2/4 2/3 n1 eth0", "3/4 0/1 n1 eth0"])
        self.assertEqual(cluster.srun("-N2", "-n3", "-m", "cyclic"),
                         ["0/3 0/2 n1 eth0", "1/3 0/1 n1 eth0", "2/3 1/2 n1 eth0"])
        self.assertEqual(cluster.srun("-N1", "-n2"), ["0/2 0/2 127.0.0.1 lo", "1/2 1/2 127.0.0.1 lo"])
        self.assertEqual(cluster.srun("-N2", "-n2", "--mpi=pmi2"), ["0/2 0/1 n1 eth0", "1/2 0/1 n1 eth0"])
        self.assertEqual(cluster.srun("-N1", "-n1", ":", "-N1", "-n2"),
                         ["0/3 0/1 n1 eth0", "1/3 0/2 n1 eth0", "2/3 1/2 n1 eth0"])

    def script(self, *lines: str) -> str:
        output = f"{cluster.work.name}/job.out"
        job = cluster.slurm.submit("\n".join(["#!/bin/bash", *lines, ""]), "-N2", "--ntasks-per-node=2", f"--output={output}")
        cluster.slurm.wait_for_state(job, ("COMPLETED", "FAILED"))
        return pathlib.Path(output).read_text()

    def test_sbatch(self):
        self.assertEqual(len(places(self.script(f"srun {WHERE}"))), 4)
        self.assertIn('start the program from the script with srun: "srun PROGRAM"', self.script(WHERE))

    def test_trains(self):
        for options, ranks in ((["-N2", "-n2"], 2), (["-N2", "-n3"], 3)):
            output = run("srun", *options, *cluster.train())
            self.assertEqual(crc(output), cluster.expected[ranks])
            self.assertEqual(len(re.findall(r"messages over eth0", output)), 1, output)

    def submit_ready_script(self, *program: str, exports: str = "") -> tuple[int, str]:
        """The job, and the path of its output."""
        output = f"{cluster.work.name}/ready{cluster.folders}.out"
        job = cluster.slurm.submit_file(READY_SCRIPT, *program, options=[f"--export=ALL{exports}", f"--output={output}",
                                                                         f"--chdir={cluster.work.name}"])
        return job, output

    def expect_completed(self, job: int, output: str) -> str:
        state = cluster.slurm.wait_for_state(job, ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"))
        text = pathlib.Path(output).read_text()
        self.assertEqual(state["JobState"], "COMPLETED", text)
        self.assertEqual(crc(text), cluster.expected[2])
        return text

    def test_ready_script(self):
        self.expect_completed(*self.submit_ready_script(*cluster.train()))

    def test_signal_while_a_rank_is_being_loaded(self):
        """Rank 0 waits for the other one, which the signal ends. The job is requeued within its time."""
        loads = pathlib.Path(cluster.work.name) / "loads"
        program = loads.with_name("program")
        # What comes before main of rank 1 takes its time at the first start.
        program.write_text(f'#!/bin/bash\nif [[ $SLURM_PROCID == 1 && -z $SLURM_RESTART_COUNT ]]; then\n  touch {loads}\n'
                           '  sleep 300\nfi\nexec "$@"\n')
        program.chmod(0o755)
        job, output = self.submit_ready_script(str(program), *cluster.train(), exports=",TRAINYARD_SRUN_WAIT=3")
        handles_usr1 = "grep SigCgt /proc/$(pgrep -xo train_loop)/status | grep -E '[2367abef]..$'"
        end = time.monotonic() + TIMEOUT
        while not loads.exists() or cluster.hosts[0].run(["sh", "-c", handles_usr1], capture_output=True).returncode != 0:
            self.assertLess(time.monotonic(), end, "the ranks do not start")
            time.sleep(0.05)
        subprocess.run(["scancel", "--signal=USR1", str(job)], check=True, timeout=TIMEOUT)
        text = self.expect_completed(job, output)
        self.assertIn("task 1: User defined signal 1", text)
        self.assertIn("task 0: Killed", text)

    def test_launchers_under_srun(self):
        srun = ["srun", "-N2", "--ntasks-per-node=1", LAUNCH, "--nnodes=auto"]
        self.assertEqual(places(run(*srun, "--nproc=2", "--", WHERE)),
                         ["0/4 0/2 10.77.0.1 eth0", "1/4 1/2 10.77.0.1 eth0", "2/4 0/2 10.77.0.1 eth0", "3/4 1/2 10.77.0.1 eth0"])

    def started(self, name: str, *command: str) -> tuple[subprocess.Popen, pathlib.Path]:
        """A step that has trained three updates, and its output."""
        output = pathlib.Path(cluster.work.name) / f"{name}.out"
        with output.open("w") as file:
            step = subprocess.Popen(["srun", "-N2", "--ntasks-per-node=1", *command, "--step_ms=100"],
                                    stdout=file, stderr=subprocess.STDOUT, env=os.environ | {"OMP_NUM_THREADS": "1"})
        self.wait_for("saved 3", step, output)
        return step, output

    def wait_for(self, text: str, step: subprocess.Popen, output: pathlib.Path) -> None:
        end = time.monotonic() + TIMEOUT
        while text not in output.read_text():
            self.assertIsNone(step.poll(), output.read_text())
            self.assertLess(time.monotonic(), end, f"no {text!r}: {output.read_text()}")
            time.sleep(0.05)

    def test_frozen_rank_is_in_the_records(self):
        train = [*cluster.train(), "--timeout=8"]
        step, output = self.started("frozen", *train)
        cluster.hosts[1].run(["pkill", "-STOP", "-x", "train_loop"], check=True)
        self.wait_for("failed on rank 0 of 2: rank 1 does not answer", step, output)
        cluster.hosts[1].run(["pkill", "-KILL", "-x", "train_loop"], check=True)
        self.assertNotEqual(step.wait(TIMEOUT), 0)
        folder = next(word for word in train if word.startswith("--run_dir=")).partition("=")[2]
        report = subprocess.run([HANG, f"{folder}/records"], capture_output=True, text=True)
        self.assertEqual(report.returncode, 0, report.stderr + output.read_text())
        self.assertRegex(report.stdout, r"(?m)^rank 0 waits in call \d+, .* at \S+\.cc:\d+, since \d+\.\d s$")
        self.assertIn("\nrank 1 left no record: killed, frozen, or never there; the last call that all ranks made is call",
                      report.stdout)
        self.assertIn("\n=> rank 0 waits for rank 1\n", report.stdout)

    def test_launchers_under_srun_restart(self):
        step, output = self.started("restart", LAUNCH, "--nnodes=auto", "--max_restarts=2", "--backoff=0.1", "--",
                                    *cluster.train())
        cluster.hosts[1].run(["pkill", "-KILL", "-x", "train_loop"], check=True)
        self.assertEqual(step.wait(TIMEOUT), 0, output.read_text())
        self.assertIn("start 2: ranks 0 to 0 of 2,", output.read_text())
        self.assertEqual(crc(output.read_text()), cluster.expected[2])


class MpiTest(unittest.TestCase):

    def test_one_host(self):
        both = ["0/2 0/2 127.0.0.1 lo", "1/2 1/2 127.0.0.1 lo"]
        self.assertEqual(places(run(*cluster.openmpi, "--oversubscribe", "-np", "2", WHERE)), both)
        self.assertEqual(places(run("mpiexec.mpich", "-launcher", "fork", "-np", "2", WHERE)), both)

    def test_two_hosts(self):
        openmpi = [*cluster.openmpi, "--host", "n1:2,n2:1", "-np", "3"]
        mpich = [*cluster.mpich, "-hosts", "n1:2,n2:1", "-np", "3"]
        self.assertIn("mpirun -x MASTER_ADDR", run(*openmpi, WHERE))
        self.assertIn("mpiexec -genv MASTER_ADDR", run(*mpich, WHERE))
        openmpi += ["-x", "MASTER_ADDR=n1"]
        mpich += ["-genv", "MASTER_ADDR", "n1"]
        for mpi in (openmpi, mpich):
            self.assertEqual(places(run(*mpi, WHERE)), ["0/3 0/2 n1 eth0", "1/3 1/2 n1 eth0", "2/3 0/1 n1 eth0"])
            self.assertEqual(crc(run(*mpi, *cluster.train())), cluster.expected[3])

    def test_inside_a_slurm_job(self):
        for mpi in (["mpirun.openmpi", "--allow-run-as-root"], ["mpiexec.mpich"]):
            self.assertEqual(places(run("salloc", "-N2", "-n2", *mpi, WHERE)), ["0/2 0/1 n1 eth0", "1/2 0/1 n1 eth0"])


if __name__ == "__main__":
    hosts.enter(__file__, PACKAGES, slurm.PROGRAMS + MPI_PROGRAMS)
    cluster = Cluster()
    try:
        unittest.main(argv=sys.argv[:1])
    finally:
        cluster.hosts.__exit__()
        cluster.work.cleanup()
