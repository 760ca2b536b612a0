#!/usr/bin/env -S python3 -B
"""Measures files of a planted source tree with a planted libtorch.

    compile_cost_test.py COMPILE_COST_PY
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

_PROGRAM = str(pathlib.Path(sys.argv[1]).absolute())
_TABLE = "tools/lint/libtorch_header_lines.txt"


class CompileCostTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.write("tree/WORKSPACE", "")
        self.write("libtorch/include/ATen/core/Tensor.h", "#pragma once\n" + "int Tensor();\n" * 3)
        self.write("libtorch/include/torch/csrc/api/include/torch/nn.h", "#include <ATen/core/Tensor.h>\n" + "int Nn();\n" * 300_000)
        self.write("tree/a/narrow.h", "#include <ATen/core/Tensor.h>\n")
        self.write("tree/a/narrow.cc", '#include "a/narrow.h"\n')
        self.write("tree/a/wide.cc", "#include <ATen/core/Tensor.h>\n#include <torch/nn.h>\n")
        self.write("tree/a/plain.cc", "int Plain();\n")
        self.write(f"tree/{_TABLE}", "ATen/core/Tensor.h 7\ntorch/nn.h 300009\n")

    def write(self, name: str, text: str):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def run_tool(self, *arguments: str, code: int = 0) -> list[str]:
        """The words of each line that it prints: on stdout, or if it fails on stderr."""
        command = [_PROGRAM, "--workspace=tree/WORKSPACE", "--tensor_header=libtorch/include/ATen/core/Tensor.h"]
        environment = os.environ | {"BUILD_WORKING_DIRECTORY": str(self.root / "tree/a")}
        result = subprocess.run(command + list(arguments), cwd=self.root, env=environment, capture_output=True, text=True)
        self.assertEqual(result.returncode, code, result.stderr)
        return [" ".join(line.split()) for line in (result.stderr if code else result.stdout).splitlines()]

    def lines(self, output: list[str], name: str) -> int:
        """The figure before a file's name."""
        (row,) = [row for row in output if row.split()[1:2] in ([name], [name + ":"])]
        return int(row.split()[0].replace(",", ""))

    def test_lists_all_files_by_cost_with_a_summary(self):
        output = self.run_tool()
        files = [row.split()[1].rstrip(":") for row in output[1 : output.index("")]]
        self.assertEqual(files[0], "a/wide.cc")
        self.assertEqual(sorted(files), ["a/narrow.cc", "a/narrow.h", "a/plain.cc", "a/wide.cc"])
        self.assertGreater(self.lines(output, "a/wide.cc"), 300_000)
        # The three lines of Tensor.h, and what stays of the lines that include it.
        self.assertIn(self.lines(output, "a/narrow.cc"), range(3, 10))
        self.assertTrue([row for row in output if row.endswith("a/narrow.cc: 1 of libtorch, ATen/core/Tensor.h through a/narrow.h")], output)
        self.assertTrue([row for row in output if row.endswith("a/plain.cc: no libtorch")], output)
        for kind in ("1 nn", "2 tensor", "1 plain"):
            self.assertTrue([row for row in output if row.endswith(" " + kind)], output)
        self.assertIn("300,009 torch/nn.h: 1", output)

    def test_names_the_headers_of_the_files_that_are_asked_for(self):
        output = self.run_tool("wide.cc", "narrow.cc")
        self.assertEqual(
            [" ".join(row.split()[1:]) for row in output[1:]],
            ["a/wide.cc", "torch/nn.h, directly", "ATen/core/Tensor.h, directly", "a/narrow.cc", "ATen/core/Tensor.h, through a/narrow.h"],
        )

    def test_measures_headers_that_are_not_in_the_table(self):
        (self.root / "tree" / _TABLE).unlink()
        self.assertRegex(self.run_tool("wide.cc")[2], r"^300,0\d\d torch/nn.h, directly$")

    def test_measures_seconds(self):
        head, row = self.run_tool("--time", "plain.cc")
        self.assertEqual(head, "lines seconds file")
        self.assertRegex(row, r"^\d+ \d+\.\d a/plain\.cc: no libtorch$")

    def test_writes_the_table_and_keeps_what_it_knows(self):
        self.write(f"tree/{_TABLE}", "ATen/core/Tensor.h 7\nATen/gone.h 8\n")
        self.assertEqual(self.run_tool("--write_table"), [f"{_TABLE}: 2 headers, 1 of them measured now"])
        rows = [row for row in (self.root / "tree" / _TABLE).read_text().splitlines() if not row.startswith("#")]
        self.assertEqual(rows[0], "ATen/core/Tensor.h 7")
        self.assertRegex(rows[1], r"^torch/nn.h 3000\d\d$")
        self.assertEqual(len(rows), 2)

    def test_says_which_file_cannot_be_measured(self):
        self.write("tree/a/bad.cc", '#include "a/generated.pb.h"\n')
        (first, second) = self.run_tool("bad.cc", "plain.cc", code=1)
        self.assertRegex(first, "^compile_cost: a/bad.cc is not measured: .*a/generated.pb.h.* not found")
        self.assertEqual(second, "compile_cost: generated headers are there after: tools/bazel build //...")

    def test_refuses_what_is_no_file_of_the_tree(self):
        self.assertEqual(self.run_tool("gone.cc", code=1), [f"compile_cost: not a .cc or .h file of {self.root}/tree: a/gone.cc"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
