#!/usr/bin/env python3
"""A rank that is killed, hangs or leaves is named by the error of the other rank.

    rank_loss_test.py LAUNCHER RANK_LOSS_PROBE
"""
import os
import subprocess
import sys
import unittest

LAUNCHER, PROBE = sys.argv[1:3]


class RankLossTest(unittest.TestCase):

    def check(self, how, exit_code, message):
        # Rank 0 has as long as it needs to print its error.
        done = subprocess.run(
            [
                LAUNCHER, "--nproc=2", "--failure_grace=3600", "--stopped_timeout=0",
                f"--log_dir={os.environ['TEST_TMPDIR']}/{how}", "--", PROBE, how,
            ],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, exit_code, done.stdout)
        self.assertIn("[0] AllReduce failed on rank 0 of 2: " + message, done.stdout)

    def test_killed_rank_is_named_at_once(self):
        self.check("kill", 137, "rank 1 does not answer")

    def test_hanging_rank_is_named_after_the_timeout(self):
        self.check("hang", 137, "rank 1 does not answer")

    def test_reason_of_a_leaving_rank_is_told(self):
        self.check("leave", 9, "rank 1 does not answer; rank 1: the disk is full")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
