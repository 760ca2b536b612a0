#!/usr/bin/env -S python3 -B
"""Tests compile_commands.py on actions as aquery prints them.

    compile_commands_test.py COMPILE_COMMANDS_PY
"""

import importlib.util
import pathlib
import sys
import tempfile
import unittest


def load():
    spec = importlib.util.spec_from_file_location("compile_commands", sys.argv.pop(1))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SUBJECT = load()
ARGUMENTS = ["external/trainyard_clang/clang.sh", "-O2", "-MD", "-MF", "x.d", "-frandom-seed=x.o", "-iquote", ".", "-include-pch",
             "bazel-out/nn.pch", "-c", "x.cc", "-o", "bazel-out/x.o"]  # fmt: skip


def actions(*lists):
    return {"actions": [{"arguments": arguments} for arguments in lists]}


class CompileCommandsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output_base = pathlib.Path(folder.name)
        script = self.output_base / ARGUMENTS[0]
        script.parent.mkdir(parents=True)
        script.write_text('#!/bin/sh\nexec /usr/bin/clang-21 "$@"\n')

    def entries(self, *lists):
        return SUBJECT.commands(actions(*lists), pathlib.Path("/w"), pathlib.Path("/exec"), self.output_base)

    def test_an_entry_has_what_an_editor_needs_and_no_outputs(self):
        self.assertEqual(self.entries(ARGUMENTS), [{
            "directory": "/exec", "file": "/w/x.cc",
            "arguments": ["/usr/bin/clang-21", "-O2", "-iquote", ".", "-c", "x.cc"]}])

    def test_another_compiler_stays(self):
        self.assertEqual(self.entries(["/usr/bin/gcc", *ARGUMENTS[1:]])[0]["arguments"][0], "/usr/bin/gcc")

    def test_each_file_of_the_workspace_occurs_once(self):
        def of(source):
            return [source if word == "x.cc" else word for word in ARGUMENTS]

        entries = self.entries(of("b.cc"), of("a.cc"), of("b.cc"), of("external/gtest/g.cc"), of("bazel-out/gen.pb.cc"), ["ar", "rcs"])
        self.assertEqual([entry["file"] for entry in entries], ["/w/a.cc", "/w/b.cc"])


if __name__ == "__main__":
    unittest.main()
