#!/usr/bin/env -S python3 -B
"""Runs our programs of this folder, and compares them with what their Python twins printed (losses.json).

    coming_from_test.py PROGRAM...
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import losses

PROGRAMS = {losses.library_of(program): str(pathlib.Path(program).absolute()) for program in sys.argv[1:]}
del sys.argv[1:]
RECORDED = json.loads(losses.FILE.read_text())
PAGE = (losses.HERE / "README.md").read_text()


class ComingFromTest(unittest.TestCase):
    def test_every_program_ends_at_the_losses_of_its_twin(self):
        self.assertEqual(sorted(PROGRAMS), sorted(RECORDED))
        for library, program in PROGRAMS.items():
            with self.subTest(library):
                done = subprocess.run([program], capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
                self.assertEqual(done.returncode, 0, done.stderr)
                ours = losses.parse(done.stdout)
                self.assertLessEqual(losses.difference(RECORDED[library], ours), losses.TOLERANCE)
                self.assertIn(losses.cells(library, RECORDED[library]), PAGE)

    def test_the_page_shows_the_python_programs(self):
        shown = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
        programs = [(losses.HERE / f"from_{library}.py").read_text() for library in RECORDED]
        for part in shown:
            self.assertTrue(any(part in program for program in programs), part)
        for library, program in zip(RECORDED, programs):
            self.assertTrue(any(part in program for part in shown), library)


if __name__ == "__main__":
    unittest.main()
