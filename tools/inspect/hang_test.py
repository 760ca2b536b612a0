#!/usr/bin/env python3
"""Real ranks hang in several ways, and the tool says from their records who waited for whom.

    hang_test.py LAUNCHER HANG_PROBE HANG
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

LAUNCHER, PROBE, HANG = sys.argv[1:4]
REDUCE = r"AllReduce of Float \[64, 64\] at backends/testing/hang_probe.cc:\d+"


def hang(*arguments):
    return subprocess.run([HANG, *arguments], capture_output=True, text=True)


class HangTest(unittest.TestCase):

    def start(self, how, name, timeout_ms, shared_memory="1"):
        self.logs = pathlib.Path(os.environ["TEST_TMPDIR"]) / name
        return subprocess.Popen(
            # Ranks that wait have the time to notice and to write.
            [LAUNCHER, "--nproc=3", "--failure_grace=8", "--stopped_timeout=0", f"--log_dir={self.logs}", "--", PROBE, how,
             str(timeout_ms)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=os.environ | {"TRAINYARD_SHARED_MEMORY": shared_memory})

    def report(self, how, name=None, **kwargs):
        launcher = self.start(how, name or how, 3000, **kwargs)
        output, _ = launcher.communicate()
        self.assertNotEqual(launcher.returncode, 0, output)
        done = hang(str(self.logs))
        self.assertEqual(done.returncode, 0, done.stderr + output)
        return done.stdout

    def check_freeze(self, report):
        # The launcher wakes it to end it.
        self.assertRegex(report, rf"(?m)^ranks 0, 2 wait in call (\d+), {REDUCE}, since \d+\.\d s\n"
                                 rf"rank 1 came to call \1, {REDUCE}, \d+\.\d s after the others, who had given up$")
        self.assertIn("\n=> ranks 0, 2 wait for rank 1\n", report)

    def test_frozen_rank(self):
        self.check_freeze(self.report("freeze"))

    def test_frozen_rank_over_the_network(self):
        self.check_freeze(self.report("freeze", name="network", shared_memory="0"))

    def test_rank_that_hangs_in_its_own_code(self):
        report = self.report("busy")
        number = int(re.search(rf"^ranks 0, 2 wait in call (\d+), {REDUCE}, since \d+\.\d s$", report, re.M)[1])
        self.assertRegex(report, rf"(?m)^rank 1 is between calls: call {number - 1}, Barrier at .* ended \d+\.\d s ago$")
        self.assertIn("\n=> ranks 0, 2 wait for rank 1\n", report)

    def test_rank_that_ends(self):
        report = self.report("leave")
        self.assertIn("\nrank 1 ended: the disk is full\n", report)
        self.assertRegex(report, rf"(?m)^ranks 0, 2 wait in call \d+, {REDUCE}, since")
        self.assertIn("\n=> ranks 0, 2 wait for rank 1\n", report)

    def test_rank_that_leaves_a_call_out(self):
        report = self.report("skip")
        self.assertRegex(report, r"(?m)^the calls of the ranks differ from call (\d+) on:\n"
                                 rf"  ranks 0, 2: call \1, {REDUCE}\n"
                                 r"  rank 1: call \1, Barrier at backends/testing/hang_probe.cc:\d+$")

    def test_rank_that_exchanges_a_gradient_instead(self):
        report = self.report("gradient")
        self.assertRegex(report, r"(?m)^the calls of the ranks differ from call (\d+) on:\n"
                                 rf"  ranks 0, 2: call \1, {REDUCE}\n"
                                 r"  rank 1: call \1, the exchange of gradients at backends/testing/hang_probe.cc:\d+$")

    def test_rank_that_never_connects(self):
        report = self.report("absent")
        self.assertRegex(report, r"(?m)^ranks 0, 1 wait in call 1, connecting at backends/processes/process_group.cc:\d+, since")
        self.assertIn("\nrank 2 left no record: killed, frozen, or never there\n", report)
        self.assertIn("\n=> ranks 0, 1 wait for rank 2\n", report)

    def test_signal_asks_while_the_run_hangs(self):
        launcher = self.start("busy", "ask", 3600 * 1000)
        for line in launcher.stdout:
            if "busy" in line:
                break
        # Until the others have come to the call.
        report = ""
        while "ranks 0, 2 wait in call" not in report:
            launcher.send_signal(signal.SIGQUIT)
            time.sleep(0.2)
            report = hang(str(self.logs)).stdout
        self.assertIn("\n=> ranks 0, 2 wait for rank 1\n", report)
        self.assertIsNone(launcher.poll())
        launcher.kill()
        launcher.communicate()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
