#!/usr/bin/env -S python3 -B
"""The rule for growing costs, and short runs of the program, without callgrind.

    growth_test.py GROWTH_PY GROWTH_RUN
"""

import pathlib
import sys
import unittest

_SCRIPT, _PROGRAM = (pathlib.Path(path).absolute() for path in sys.argv[1:3])
sys.path.insert(0, str(_SCRIPT.resolve().parent))

import growth


class GrowthTest(unittest.TestCase):
    def test_linear_cost_does_not_grow(self):
        for sizes in growth.SIZES.values():
            self.assertFalse(growth.grows(sizes, [1e6 + 50 * size for size in sizes]))
            self.assertFalse(growth.grows(sizes, [1e6 for _ in sizes]))
            self.assertFalse(growth.grows(sizes, [1e6 + 1000 * (i % 2) for i in range(len(sizes))]))  # noise

    def test_quadratic_cost_grows(self):
        for sizes in growth.SIZES.values():
            self.assertTrue(growth.grows(sizes, [1e6 + 5e4 * size * size for size in sizes]))

    def test_program_runs_in_each_size(self):
        for flags in ([], ["--callbacks=3", "--metrics=2"], ["--tensors=4", "--records=1000"]):
            found = growth.timed(str(_PROGRAM), *flags)
            self.assertGreater(found["step_us"], 1)
            self.assertGreater(found["first_step_s"], 0)
        self.assertEqual(growth.run(str(_PROGRAM), 1, ["--gradients_only"]), "")
        self.assertIn("@@", growth.run(str(_PROGRAM), 2, []))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
