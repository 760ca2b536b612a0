#!/usr/bin/env -S python3 -B
"""Tests new_project.py. .ci/run builds and runs what it writes.

    new_project_test.py NEW_PROJECT_PY
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).absolute()


class NewProjectTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def run_program(self, *arguments):
        environment = dict(os.environ, BUILD_WORKING_DIRECTORY=str(self.folder))
        return subprocess.run([PROGRAM, *arguments], env=environment, capture_output=True, text=True)

    def test_writes_a_complete_project(self):
        done = self.run_program("old/../new/ring", "ring_net")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"cd {self.folder}/new/ring\n", done.stdout)
        project = self.folder / "new/ring"
        names = sorted(path.name for path in project.iterdir())
        self.assertEqual(names, [
            ".bazelrc", ".gitignore", "BUILD.bazel", "CMakeLists.txt", "MODULE.bazel", "README.md", "WORKSPACE", "WORKSPACE.bzlmod",
            "points.cc", "points.h", "ring_net.cc", "ring_net_task.cc", "ring_net_task.h", "ring_net_test.cc"])
        for path in project.iterdir():
            text = path.read_text()
            for left in ("@NAME", "@TRAINYARD"):
                self.assertNotIn(left, text, path)
        trainyard = str(PROGRAM.resolve().parents[2])
        for name in ("WORKSPACE", "MODULE.bazel", ".bazelrc"):
            self.assertIn(trainyard, (project / name).read_text())
        self.assertIn("#ifndef RING_NET_TASK_H_", (project / "ring_net_task.h").read_text())
        self.assertIn('"@trainyard//trainer/data:batch"', (project / "BUILD.bazel").read_text())

    def test_refuses_folders_with_files_and_names_that_are_none(self):
        self.assertEqual(self.run_program("ring", "ring").returncode, 0)
        done = self.run_program("ring", "ring")
        self.assertEqual(done.returncode, 1)
        self.assertIn("which is not an empty folder", done.stderr)
        for name in ("Ring", "1ring", "ring-net", "template", "std", ""):
            done = self.run_program("other", name)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"NAME is {name!r}", done.stderr)
        self.assertFalse((self.folder / "other").exists())
        self.assertIn("DIR NAME", self.run_program("only").stderr)


if __name__ == "__main__":
    unittest.main()
