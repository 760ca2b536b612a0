#!/usr/bin/env python3
"""Drives the launcher as users do: what ranks get, print and end with.

    launch_test.py LAUNCHER RANK_PROBE
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "testing"))
from processes import alive, children  # noqa: E402

# Removed at the end, with all logs.
WORK = tempfile.mkdtemp(prefix="launch-test-")
LAUNCHER, PROBE = (os.path.abspath(path) for path in sys.argv[1:3])


class Launch:
    """One started launcher, whose output is read line by line."""

    def __init__(self, flags, *command, env=None):
        self.logs = tempfile.mkdtemp(dir=WORK)
        self.process = subprocess.Popen(
            [LAUNCHER, f"--log_dir={self.logs}", *flags, "--", PROBE, *command],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
        self.lines = []

    def wait_for(self, pattern, count=1):
        """Reads until `count` lines match; the matches."""
        found = []
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            found += [match] if (match := re.search(pattern, line)) else []
            if len(found) == count:
                return found
        raise AssertionError(f"no {count} lines {pattern!r} in {self.lines}")

    def end(self):
        """Exit code and all lines."""
        with self.process.stdout:
            self.lines += self.process.stdout.read().splitlines()
        return self.process.wait(), self.lines

    def joined(self):
        """Whether it is connected to the coordinator: the inner launcher has a TCP socket."""
        for pid in children(self.process.pid):
            try:
                links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
            except OSError:
                continue
            # The connection, and the socket for the store.
            if sum(link.startswith("socket:") for link in links) >= 2:
                return True
        return False

    def log(self, rank):
        with open(f"{self.logs}/rank{rank}.log") as file:
            return file.read()


def run(flags, *command, env=None):
    return Launch(flags, *command, env=env).end()


def ranks_lines(lines):
    return sorted(line for line in lines if not line.startswith("launch: "))


class EnvironmentTest(unittest.TestCase):

    def test_each_rank_knows_its_place_and_rank_0_alone_has_the_store(self):
        env = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
        code, lines = run(["--nproc=2"], "env", "a b", "", "$HOME", "*", env=env | {"TRAINYARD_STORE_FD": "0"})
        self.assertEqual(code, 0, lines)
        first, second = ranks_lines(lines)
        port = re.search(r"MASTER_PORT=(\d+)", first)[1]
        threads = max(1, os.cpu_count() // 2)
        common = (f"WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT={port} "
                  f"TRAINYARD_RESTART_COUNT=0 TRAINYARD_GENERATION=0 OMP_NUM_THREADS={threads}")
        words = "<a b> <> <$HOME> <*>"
        self.assertEqual(first, f"[0] RANK=0 LOCAL_RANK=0 {common} STORE=127.0.0.1:{port} {words}")
        self.assertEqual(second, f"[1] RANK=1 LOCAL_RANK=1 {common} STORE=none {words}")

    def test_a_taken_port_is_named_and_nothing_starts(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            code, lines = run([f"--master_port={port}", "--nproc=2"], "env")
        self.assertEqual(code, 1)
        self.assertEqual(lines[-1], f"launch: port {port} of 127.0.0.1 is taken")
        self.assertEqual(ranks_lines(lines), [])


class OutputTest(unittest.TestCase):

    def test_lines_of_busy_ranks_do_not_mix_and_each_has_its_log(self):
        launch = Launch(["--nproc=4"], "chat", "5000")
        code, lines = launch.end()
        self.assertEqual(code, 0)
        for rank in range(4):
            wanted = [f"line {i} of rank {rank}" for i in range(5000)]
            mine = [line[4:] for line in lines if line.startswith(f"[{rank}] ")]
            self.assertEqual(mine, wanted)
            self.assertEqual(launch.log(rank).splitlines(), wanted)

    def test_a_reader_that_goes_away_does_not_end_the_ranks(self):
        launch = Launch(["--nproc=2"], "chat", "50000")
        launch.wait_for("line")
        launch.process.stdout.close()
        self.assertEqual(launch.process.wait(), 0)
        self.assertEqual(len(launch.log(1).splitlines()), 50000)


class LogFolderTest(unittest.TestCase):

    def test_a_folder_of_its_own_stays_only_after_a_failure(self):
        for command, left in ((["env"], 0), (["exit", "0", "7"], 1)):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([LAUNCHER, "--", PROBE, *command], env=os.environ | {"TMPDIR": folder},
                               capture_output=True)
                self.assertEqual(len(os.listdir(folder)), left)


class FailureTest(unittest.TestCase):

    def test_the_first_failure_is_named_with_its_code_and_message(self):
        start = time.monotonic()
        code, lines = run(["--nproc=4"], "exit", "2", "7")
        self.assertEqual(code, 7)
        self.assertLess(time.monotonic() - start, 5)
        text = "\n".join(lines)
        self.assertRegex(text, "launch: rank 2 ended with exit code 7 after .* s; ending the others")
        self.assertRegex(text, "the first to fail was rank 2, which ended with exit code 7 after .*; "
                               "all it printed is in .*/rank2.log\n    error: planned failure of rank 2$")

    def test_a_signal_is_named_and_gives_128_more(self):
        for rank, number, name in [(1, signal.SIGKILL, "SIGKILL"), (0, signal.SIGSEGV, "SIGSEGV"),
                                   (0, signal.SIGABRT, "SIGABRT")]:
            code, lines = run(["--nproc=2"], "raise", str(rank), str(int(number)))
            self.assertEqual(code, 128 + number)
            self.assertRegex("\n".join(lines), rf"rank {rank} was killed by {name} \(signal {int(number)}\)")

    def test_ranks_deaf_to_sigterm_are_killed_within_5_seconds(self):
        launch = Launch(["--nproc=3"], "stubborn", "9", "0")
        pids = {match[1]: int(match[2]) for match in launch.wait_for(r"\[(\d)\] waits (\d+)", 3)}
        start = time.monotonic()
        os.kill(pids["1"], signal.SIGKILL)
        code, lines = launch.end()
        self.assertEqual(code, 128 + signal.SIGKILL)
        self.assertLess(time.monotonic() - start, 5)
        self.assertIn("launch: killing rank 0, which did not end when told to", lines)
        self.assertIn("launch: killing rank 2, which did not end when told to", lines)

    def test_a_stopped_rank_is_named(self):
        code, lines = run(["--nproc=2", "--stopped_timeout=0.2", "--failure_grace=0.5"], "raise", "1",
                          str(int(signal.SIGSTOP)))
        self.assertEqual(code, 128 + signal.SIGSTOP)
        self.assertRegex("\n".join(lines), "rank 1 was stopped for 0.2 s")

    def test_what_ranks_leave_running_ends_with_them(self):
        launch = Launch(["--nproc=2"], "leave", "end")
        left = [int(match[1]) for match in launch.wait_for(r"waits (\d+)", 4)]
        self.assertEqual(launch.end()[0], 0)
        self.assertEqual([pid for pid in left if alive(pid)], [])


class RestartTest(unittest.TestCase):

    def test_restarts_until_it_works(self):
        launch = Launch(["--nproc=2", "--max_restarts=3", "--backoff=0.01"], "flaky", "2", "5")
        code, lines = launch.end()
        self.assertEqual(code, 0, lines)
        self.assertIn("launch: restart 1 of 3 in 0.01 s", lines)
        self.assertIn("launch: restart 2 of 3 in 0.02 s", lines)
        self.assertIn("launch: restart 2", launch.log(0))

    def test_a_crash_loop_ends_with_the_first_code(self):
        code, lines = run(["--max_restarts=3", "--backoff=0.01"], "flaky", "99", "5")
        self.assertEqual(code, 5)
        pauses = [line.split(" in ")[1] for line in lines if "restart" in line]
        self.assertEqual(pauses, ["0.01 s", "0.02 s", "0.04 s"])

    def test_a_signal_between_restarts_ends_it(self):
        launch = Launch(["--max_restarts=3", "--backoff=1000"], "flaky", "99", "5")
        launch.wait_for("restart 1 of 3 in 30 s")
        launch.process.send_signal(signal.SIGTERM)
        self.assertEqual(launch.end()[0], 5)


class SignalTest(unittest.TestCase):

    def test_sigterm_and_sigint_are_passed_on_and_the_ranks_may_save(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            launch = Launch(["--nproc=2", "--max_restarts=3"], "save", "3")
            launch.wait_for("waits", 2)
            launch.process.send_signal(number)
            code, lines = launch.end()
            self.assertEqual(code, 3, lines)
            for rank in range(2):
                self.assertIn(f"[{rank}] saved at signal {int(number)}", lines)

    def test_signals_that_save_are_passed_on_and_end_nothing(self):
        launch = Launch(["--nproc=2"], "save", "0", env=os.environ | {"TRAINYARD_SAVE_SIGNALS": "INT"})
        launch.wait_for("waits", 2)
        launch.process.send_signal(signal.SIGINT)
        code, lines = launch.end()
        self.assertEqual(code, 0, lines)
        for rank in range(2):
            self.assertIn(f"[{rank}] saved at signal 2", lines)
        self.assertFalse([line for line in lines if "the ranks have" in line], lines)

    def test_one_cancelled_rank_cancels_the_others_and_nothing_restarts(self):
        launch = Launch(["--nproc=2", "--max_restarts=3"], "save", "3")
        pid = launch.wait_for(r"\[1\] waits (\d+)")[0][1]
        if not any("[0] waits" in line for line in launch.lines):
            launch.wait_for(r"\[0\] waits")
        os.kill(int(pid), signal.SIGTERM)
        code, lines = launch.end()
        self.assertEqual(code, 3, lines)
        self.assertIn("[0] saved at signal 15", lines)

    def test_what_does_not_end_in_time_is_killed(self):
        launch = Launch(["--nproc=2", "--grace=0.1"], "stubborn", "9", "0")
        launch.wait_for("waits", 2)
        launch.process.send_signal(signal.SIGTERM)
        code, lines = launch.end()
        self.assertEqual(code, 128 + signal.SIGKILL)
        self.assertIn("launch: SIGTERM: the ranks have 0.1 s to end", lines)

    def test_a_second_signal_kills_at_once(self):
        launch = Launch(["--nproc=2", "--grace=1000"], "stubborn", "9", "0")
        launch.wait_for("waits", 2)
        launch.process.send_signal(signal.SIGINT)
        launch.wait_for("SIGINT: the ranks have")
        # The ranks heard SIGINT, which they are not deaf to.
        self.assertEqual(launch.end()[0], 128 + signal.SIGINT)
        launch = Launch(["--nproc=2", "--grace=1000"], "stubborn", "9", "0")
        launch.wait_for("waits", 2)
        launch.process.send_signal(signal.SIGTERM)
        launch.wait_for("SIGTERM: the ranks have")
        launch.process.send_signal(signal.SIGTERM)
        self.assertEqual(launch.end()[0], 128 + signal.SIGKILL)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


class Nodes:
    """A launcher for each of several hosts, all of them on this one."""

    def __init__(self, count, flags, *command, nnodes=None, first=0, join_timeout=60):
        self.flags = [f"--nnodes={nnodes or count}", "--master_addr=127.0.0.1", f"--master_port={free_port()}",
                      "--backoff=0.01", f"--join_timeout={join_timeout}", *flags]
        self.command = command
        self.launches = {}
        for node in range(first, count):
            self.start(node)

    def start(self, node):
        self.launches[node] = Launch([*self.flags, f"--node_rank={node}"], *self.command)

    def __getitem__(self, node):
        return self.launches[node]

    def end(self):
        """Exit codes and lines, by node."""
        ends = {node: launch.end() for node, launch in self.launches.items()}
        return {node: code for node, (code, _) in ends.items()}, {node: lines for node, (_, lines) in ends.items()}


class NodesTest(unittest.TestCase):

    def test_hosts_start_together_with_ranks_in_their_order(self):
        codes, lines = Nodes(2, ["--nproc=2"], "env").end()
        self.assertEqual(codes, {0: 0, 1: 0}, lines)
        port = re.search(r"MASTER_PORT=(\d+)", ranks_lines(lines[0])[0])[1]
        for node in range(2):
            for local, line in enumerate(ranks_lines(lines[node])):
                rank = 2 * node + local
                self.assertIn(f"[{rank}] RANK={rank} LOCAL_RANK={local} WORLD_SIZE=4 LOCAL_WORLD_SIZE=2 "
                              f"MASTER_ADDR=127.0.0.1 MASTER_PORT={port} TRAINYARD_RESTART_COUNT=0 "
                              "TRAINYARD_GENERATION=1", line)
                self.assertIn(f"STORE=127.0.0.1:{port}" if rank == 0 else "STORE=none", line)

    def test_a_failure_on_one_host_restarts_all_of_them(self):
        nodes = Nodes(3, ["--max_restarts=2"], "flaky_rank", "1", "5")
        codes, lines = nodes.end()
        self.assertEqual(codes, {0: 0, 1: 0, 2: 0}, lines)
        for node in range(3):
            self.assertRegex("\n".join(lines[node]), "start 2: ranks .* of 3")
        self.assertRegex("\n".join(lines[2]), r"node 1 \(.*\): rank 1 ended with exit code 5")

    def test_after_the_last_restart_all_end_with_the_first_code(self):
        codes, lines = Nodes(2, ["--max_restarts=1"], "exit", "1", "7").end()
        self.assertEqual(codes, {0: 7, 1: 7}, lines)

    def test_a_killed_launcher_is_waited_for(self):
        for victim in range(2):
            nodes = Nodes(2, ["--max_restarts=3"], "wait_once")
            pids = [int(nodes[node].wait_for(r"waits (\d+)")[0][1]) for node in range(2)]
            nodes[victim].process.kill()
            nodes[victim].end()
            nodes.start(victim)
            codes, lines = nodes.end()
            self.assertEqual(codes, {0: 0, 1: 0}, lines)
            self.assertEqual([pid for pid in pids if alive(pid)], [])
            # The generation grows, also if the coordinator is a new one.
            self.assertRegex("\n".join(lines[1 - victim]), "TRAINYARD_GENERATION=2")

    def test_a_signal_to_one_launcher_cancels_all_hosts(self):
        nodes = Nodes(2, ["--max_restarts=3"], "save", "3")
        for node in range(2):
            nodes[node].wait_for("waits")
        nodes[1].process.send_signal(signal.SIGTERM)
        codes, lines = nodes.end()
        self.assertEqual(codes, {0: 3, 1: 3}, lines)
        for node in range(2):
            self.assertIn(f"[{node}] saved at signal 15", lines[node])

    def test_fewer_hosts_start_after_the_wait_and_a_late_one_joins_at_the_next_restart(self):
        nodes = Nodes(2, ["--max_restarts=3", "--join_wait=0.5"], "wait_once", nnodes="2:3")
        for node in range(2):
            nodes[node].wait_for("TRAINYARD_GENERATION=1.* WORLD_SIZE=2|WORLD_SIZE=2 .*TRAINYARD_GENERATION=1")
        pid = int(nodes[1].wait_for(r"waits (\d+)")[0][1])
        nodes.start(2)
        nodes[2].wait_for("logs in")
        while not nodes[2].joined():
            time.sleep(0.01)
        os.kill(pid, signal.SIGKILL)
        codes, lines = nodes.end()
        self.assertEqual(codes, {0: 0, 1: 0, 2: 0}, lines)
        for node in range(3):
            self.assertRegex("\n".join(lines[node]), "WORLD_SIZE=3 .*TRAINYARD_GENERATION=2")

    def test_too_few_hosts_are_an_error(self):
        codes, lines = Nodes(1, [], "env", nnodes=2, join_timeout=0.5).end()
        self.assertEqual(codes, {0: 1})
        self.assertIn("launch: only 1 of 2 nodes joined", lines[0])

    def test_no_coordinator_is_an_error(self):
        codes, lines = Nodes(2, [], "env", first=1, join_timeout=0.5).end()
        self.assertEqual(codes, {1: 1})
        self.assertRegex(lines[1][-1], "nobody listens at 127.0.0.1:.* where the launcher of node 0 has the coordinator")


class MistakeTest(unittest.TestCase):

    def test_one_line_and_code_1(self):
        for arguments, message in [
            ([], "no program is given; see --help"),
            (["--nproc=0", "x"], "--nproc is '0', want 1 to 4096"),
            (["no_such_example"], "'no_such_example' is neither a built example nor a program on PATH"),
            (["--master_addr=192.0.2.1", PROBE], "192.0.2.1 is not an address of this host"),
            (["--log_dir=/proc/no", PROBE], "/proc/no"),
        ]:
            done = subprocess.run([LAUNCHER, *arguments], capture_output=True, text=True, env=os.environ | {"TMPDIR": WORK})
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr.splitlines()[-1])

    def test_config_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/run.conf"
            # As under `bazel run`: paths are relative to the user's folder.
            environment = os.environ | {"BUILD_WORKING_DIRECTORY": folder}
            done = subprocess.run([LAUNCHER, "--nproc=2", "--grace=7", "--write_config=run.conf"], env=environment)
            self.assertEqual(done.returncode, 0)
            with open(file, "a") as config:
                config.write("# the end\n")
            code, lines = run([f"--config={file}"], "env")
            self.assertEqual(code, 0, lines)
            self.assertEqual(len(ranks_lines(lines)), 2)
            self.assertEqual(len(ranks_lines(run([f"--config={file}", "--nproc=3"], "env")[1])), 3)
            with open(file, "a") as config:
                config.write("max_restart=1\n")
            code, lines = run([f"--config={file}"], "env")
            self.assertEqual(code, 1)
            self.assertRegex(lines[-1], "run.conf:.*max_restart is not a setting of launch; did you mean max_restarts?")

    def test_help(self):
        done = subprocess.run([LAUNCHER, "--help"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        for flag in ("nproc", "nnodes", "node_rank", "master_addr", "master_port", "max_restarts", "grace", "log_dir",
                     "config", "write_config"):
            self.assertIn(f"--{flag}=", done.stdout)


if __name__ == "__main__":
    try:
        unittest.main(argv=sys.argv[:1])
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
