#!/usr/bin/env -S python3 -B
"""Tests lcov_table.py.

    lcov_table_test.py LCOV_TABLE
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve().parent))
import lcov_table

# As llvm-cov writes it: a header twice, a generated file, and a file of the system.
_LCOV = """SF:/proc/self/cwd/folder/io/a.h
FNDA:1,a
DA:3,0
DA:4,2
end_of_record
SF:/proc/self/cwd/folder/io/a.h
DA:3,1
DA:5,0
LF:2
end_of_record
SF:/proc/self/cwd/folder/checkpoint/format/b.cc
DA:1,18446744073709551615
end_of_record
SF:/proc/self/cwd/bazel-out/k8-opt/bin/c.pb.cc
DA:1,0
end_of_record
SF:/usr/include/d.h
DA:1,0
end_of_record
"""


class LcovTableTest(unittest.TestCase):
    def test_reads_each_line_of_our_files_once(self):
        self.assertEqual(lcov_table.read(_LCOV), {"folder/io/a.h": {3: 1, 4: 2, 5: 0}, "folder/checkpoint/format/b.cc": {1: 18446744073709551615}})

    def test_folders_are_two_names_deep(self):
        self.assertEqual([lcov_table.folder_of(name) for name in ["x.cc", "folder/x.cc", "folder/io/x.cc", "folder/checkpoint/format/x.cc"]], ["", "folder/", "folder/io/", "folder/checkpoint/"])

    def test_table_has_a_row_per_folder_and_the_sum(self):
        rows, total = lcov_table.table(lcov_table.read(_LCOV) | {"folder/io/e.cc": {number: 1 for number in range(1997)}})
        self.assertEqual(rows[2:], ["| `folder/checkpoint/` | 1 | 1 | 100.0 |", "| `folder/io/` | 2,000 | 1,999 | 99.9 |", "| all | 2,001 | 2,000 | 99.9 |"])
        self.assertEqual(total, lcov_table.Lines(2001, 2000))

    def test_names_the_lines_that_were_not_executed(self):
        self.assertEqual(lcov_table.not_executed({1: 1, 2: 0, 3: 0, 7: 0, 8: 2, 9: 0}), "2-7, 9")
        self.assertEqual(lcov_table.not_executed({1: 1}), "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
