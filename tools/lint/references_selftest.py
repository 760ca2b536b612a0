#!/usr/bin/env -S python3 -B
"""As lint_selftest.py, for the checks of paths, labels, visibility and Python files.

    references_selftest.py LINT_PY CLANG_FORMAT BUILDIFIER
"""

import sys
import unittest

from lint_selftest import LintTest


class PathsTest(LintTest):
    def test_a_path_in_a_comment_that_does_not_exist(self):
        self.write("tools/x.cc", "// See tools/gone.h, tools/ok.h and tools/made.pb.h.\n")
        self.assert_fails("paths", "tools/x.cc:1: there is no tools/gone.h")

    def test_a_folder_and_a_link_of_a_document_that_do_not_exist(self):
        self.write("tools/README.md", "`tools/gone/` [a](gone.md) [b](ok.h#x) [c](https://example.com/gone) `tools/`\n")
        self.assert_fails("paths", "tools/README.md:1: there is no tools/gone/", "tools/README.md:1: the link gone.md leads nowhere")

    def test_links_to_headings_and_pictures_that_do_not_exist(self):
        self.write("tools/README.md", "## How do I `run` it?\n\n[a](#how-do-i-run-it) [b](#gone)\n<img src=\"gone.png\">\n")
        self.write("README.md", "[a](tools/README.md#how-do-i-run-it) [b](tools/README.md#gone) f[0](x)\n")
        self.assert_fails(
            "paths", "README.md:1: the link tools/README.md#gone names no heading", "README.md:1: the link x leads nowhere",
            "tools/README.md:3: the link #gone names no heading", "tools/README.md:4: the link gone.png leads nowhere")

    def test_labels_that_do_not_exist(self):
        self.write("README.md", "Run //tools:ok, //tools:gone, //tools/gone:x and //tools/.\n")
        self.assert_fails("paths", "README.md:1: there is no target //tools:gone", "README.md:1: there is no target //tools/gone:x")

    def test_the_default_target_of_a_package(self):
        self.write("README.md", "//tools\n")
        self.assert_fails("paths", "README.md:1: there is no target //tools")
        self.write("tools/BUILD.bazel", '[cc_library(name = name) for name in ["tools"]]\n')
        self.assert_clean("paths")

    def test_targets_that_macros_make(self):
        self.write("tools/BUILD.bazel", 'distributed_test(name = "a_test")\ntrainyard_cc_benchmark(name = "b_benchmark")\n')
        self.write("README.md", "//tools:a_cpu_2_test //tools:a_ranks //tools:b_benchmark_smoke_test //tools:all\n")
        self.assert_clean("paths")

    def test_a_package_that_the_codemap_lacks(self):
        for package in ("data", "data/sets", "data/testing", "data/sets/deep"):
            self.write(f"{package}/BUILD.bazel", "")
        self.write("README.md", "## Where things are\n\n| `data/` |\n")
        self.assert_fails("paths", "README.md: the table of folders lacks data/sets/")
        self.write("README.md", "`data/`\n")
        self.assert_clean("paths")

    def test_placeholders_and_other_workspaces_are_not_checked(self):
        self.write("README.md", "`tools/*.cc` tools/<name>.cc tools/{a,b}.cc @other//tools:gone http://tools/gone.h /tools/gone.h //tools/...\n")
        self.assert_clean("paths")


class PythonFilesTest(LintTest):
    def test_a_script_that_does_not_compile(self):
        self.write("tools/bad.py", "x = 1\nif x\n")
        self.write("tools/bad", "#!/usr/bin/env python3\n1 +\n")
        self.write("tools/shell", "#!/bin/sh\nif x\n")
        self.write("tools/good.py", "x = 1\n")
        code, output = self.lint("python_files")
        self.assertEqual(code, 1)
        self.assertRegex(output, r"\Apython_files: tools/bad:2: .*\npython_files: tools/bad.py:2: .*\n\Z")


class VisibilityTest(LintTest):
    PUBLIC = 'package(default_visibility = ["//:__subpackages__"])\ncc_library(name = "ok", visibility = ["//visibility:public"])\n'

    def test_a_package_that_is_public_by_default(self):
        self.write("tools/BUILD.bazel", 'package(default_visibility = ["//visibility:public"])\n')
        self.assert_fails("visibility", 'tools/BUILD.bazel:1: the default must be ["//:__subpackages__"]; a target for users says visibility = ["//visibility:public"]')

    def test_a_public_target_that_nobody_is_told_about(self):
        self.write("tools/BUILD.bazel", self.PUBLIC)
        self.write("README.md", "//tools:okay //tools\n")
        self.assert_fails("visibility", "tools/BUILD.bazel:2: ok is public, but no document names //tools:ok and its header has no example")

    def test_a_document_or_an_example_tells_about_it(self):
        self.write("tools/BUILD.bazel", self.PUBLIC)
        self.write("README.md", "Use `//tools:ok`.\n")
        self.assert_clean("visibility")
        self.write("README.md", "")
        self.write("tools/ok.h", "// Ok is one.\n//\n//   int one = Ok();\n#ifndef OK\n")
        self.assert_clean("visibility")

    def test_a_public_library_that_is_not_in_the_package(self):
        self.write("README.md", "`//trainer:a` `//tools/package:trainyard`\n")
        package = 'trainyard_package(name = "trainyard", visibility = ["//visibility:public"], deps = [{}])\n'
        self.write("trainer/BUILD.bazel", 'trainyard_cc_library(name = "a", visibility = ["//visibility:public"])\n')
        self.write("tools/package/BUILD.bazel", package.format(""))
        self.assert_fails("visibility", "trainer/BUILD.bazel:1: a is public, but not in deps of //tools/package:trainyard")
        self.write("tools/package/BUILD.bazel", package.format('"//trainer:a"'))
        self.assert_clean("visibility")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
