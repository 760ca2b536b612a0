#!/usr/bin/env -S python3 -B
"""Sees every check of lint.py fail on a planted violation and pass without it.

    lint_selftest.py LINT_PY CLANG_FORMAT BUILDIFIER
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import layering_rules
import libtorch_includes

_LINT, _CLANG_FORMAT, _BUILDIFIER = (str(pathlib.Path(path).absolute()) for path in sys.argv[1:4])

_REPAIR = "repair with: tools/bazel run //tools/lint:fix"


def _library(name: str, *deps: str, rule: str = "trainyard_cc_library") -> str:
    return f"{rule}(name = {name!r}, deps = {list(deps)!r})\n"


class LintTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("WORKSPACE", 'workspace(name = "planted")\n')
        self.write("tools/ok.h", "#include <ATen/core/Tensor.h>\n\nint Ok();\n")
        self.write("tools/ok.cc", "#include <torch/torch.h>\n\nint Ok() { return 1; }\n")
        self.write(libtorch_includes.TABLE, "# Lines.\nATen/core/Tensor.h 140000\ntorch/torch.h 300000\n")
        self.write("tools/BUILD.bazel", 'load("@rules_cc//cc:defs.bzl", "cc_library")\n\ncc_library(\n    name = "ok",\n    hdrs = ["ok.h"],\n)\n')

    def write(self, name: str, text: str):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def write_build(self, package: str, *targets: str, without: str = ""):
        """A BUILD file that also has every library that TORCH_FREE expects in it."""
        expected = [p.partition(":")[2] for p in layering_rules.TORCH_FREE if p.startswith(f"//{package}:") and p != without]
        self.write(f"{package}/BUILD.bazel", "".join(targets) + "".join(map(_library, expected)))

    def lint(self, check: str) -> tuple[int, str]:
        command = [_LINT, check, str(self.root / "WORKSPACE")]
        command += [f"--clang_format={_CLANG_FORMAT}", f"--buildifier={_BUILDIFIER}"]
        result = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(result.stderr, "")
        return result.returncode, result.stdout

    def assert_clean(self, check: str):
        self.assertEqual(self.lint(check), (0, ""))

    def assert_fails(self, check: str, *messages: str):
        self.assertEqual(self.lint(check), (1, "".join(f"{check}: {m}\n" for m in messages)))


class CleanTreeTest(LintTest):
    def test_every_check_passes(self):
        for check in ("examples", "file_size", "libtorch_headers", "layering", "names", "unique_names", "clang_format", "buildifier"):
            with self.subTest(check):
                self.assert_clean(check)


class SourceTreeTest(LintTest):
    LONG = "\n" * 401
    MESSAGE = "401 lines, at most 400 are allowed: split it by reason to change"

    @unittest.skipUnless(shutil.which("git"), "git is not on this machine")
    def test_sees_untracked_files_but_not_ignored_or_deleted_ones(self):
        self.write(".gitignore", "/ignored.cc\n")
        self.write("deleted.cc", self.LONG)
        for command in (["init", "--quiet"], ["add", "."]):
            subprocess.run(["git", "-C", str(self.root)] + command, check=True)
        (self.root / "deleted.cc").unlink()
        self.write("ignored.cc", self.LONG)
        self.write("new.cc", self.LONG)
        self.assert_fails("file_size", f"new.cc: {self.MESSAGE}")

    def test_walks_without_git_but_not_into_bazels_links(self):
        self.write("bazel-out/generated.cc", self.LONG)
        self.write("new.cc", self.LONG)
        self.assert_fails("file_size", f"new.cc: {self.MESSAGE}")


class FileSizeTest(LintTest):
    def test_fails_over_the_limit_for_each_kind_of_file(self):
        names = ["a.bzl", "a.cc", "a.h", "a.py", "a.sh", "script"]
        for name in names:
            self.write(name, "#!\n" + "#\n" * 400)
        self.assert_fails("file_size", *(f"{name}: {SourceTreeTest.MESSAGE}" for name in names))

    def test_passes_at_the_limit_and_for_lists_and_data(self):
        self.write("a.cc", "#\n" * 400)
        self.write("b/BUILD.bazel", "#\n" * 4000)
        self.write("data.txt", "#\n" * 4000)
        self.assert_clean("file_size")


class LibtorchTest(LintTest):
    def setUp(self):
        super().setUp()
        rows = {"ATen/core/Tensor.h": 140000, "ATen/core/ivalue.h": 170000, "torch/nn/module.h": 270000, "torch/torch.h": 300000}
        rows["torch/csrc/distributed/c10d/Store.hpp"] = 183000
        self.write(libtorch_includes.TABLE, "".join(f"{header} {lines}\n" for header, lines in rows.items()))


class LibtorchHeadersTest(LibtorchTest):
    ADVICE = "declare the class here, and include its header in the .cc file"

    def test_fails_on_what_is_heavy_and_on_what_is_refused(self):
        self.write("a.h", '#include <torch/torch.h>\n  # include "torch/nn/module.h"\n')
        self.write("b.h", "#include <ATen/core/ivalue.h>\n#include <torch/csrc/distributed/c10d/Store.hpp>\n")
        self.assert_fails(
            "libtorch_headers",
            f"a.h:1: a header must not include torch/torch.h (300,000 lines); {self.ADVICE}",
            f"a.h:2: a header must not include torch/nn/module.h (270,000 lines); {self.ADVICE}",
            f"b.h:1: a header must not include ATen/core/ivalue.h (170,000 lines); {self.ADVICE}",
            f"b.h:2: a header must not include torch/csrc/distributed/c10d/Store.hpp (183,000 lines); {self.ADVICE}",
        )

    def test_passes_where_it_is_only_spoken_of(self):
        self.write("a.h", "// Not #include <torch/torch.h>: slow.\n#include <ATen/core/Tensor.h>\n")
        self.assert_clean("libtorch_headers")

    def test_passes_for_headers_that_no_user_includes(self):
        for folder in ("tools/bench", "tools/build_rules/precompiled", "tools/examples"):
            self.write(f"{folder}/a.h", "#include <torch/nn/module.h>\n")
        self.write("b/a.h", "#include <torch/nn/module.h>\n")
        self.write("b/BUILD.bazel", 'trainyard_cc_library(name = "a", testonly = True, hdrs = ["a.h"])\n')
        self.assert_clean("libtorch_headers")

    def test_fails_on_a_chain_through_such_a_header(self):
        self.write("tools/examples/net.h", "#include <torch/nn/module.h>\n")
        self.write("b/b.h", '#include "tools/examples/net.h"\n')
        self.write("b/a.h", '#include "b/b.h"\n')
        forbidden = "a header must not reach torch/nn/module.h (270,000 lines)"
        chain = "b/b.h -> tools/examples/net.h -> torch/nn/module.h"
        self.assert_fails("libtorch_headers", f"b/a.h: {forbidden}: b/a.h -> {chain}", f"b/b.h: {forbidden}: {chain}")

    def test_a_header_that_a_library_lists_too_is_for_users(self):
        self.write("b/a.h", "#include <torch/nn/module.h>\n")
        self.write("b/BUILD.bazel", 'cc_library(name = "n")\ntrainyard_cc_test(name = "t", hdrs = ["a.h"])\ntrainyard_cc_library(name = "a", hdrs = ["a.h"])\n')
        self.assert_fails("libtorch_headers", f"b/a.h:1: a header must not include torch/nn/module.h (270,000 lines); {self.ADVICE}")

    def test_an_exemption_must_be_needed(self):
        self.write("backends/sync_batch_norm.h", "#include <torch/nn/module.h>\n")
        self.assert_clean("libtorch_headers")
        self.write("backends/sync_batch_norm.h", "#include <ATen/core/Tensor.h>\n")
        self.assert_fails(
            "libtorch_headers",
            "backends/sync_batch_norm.h: it needs no exemption; take it out of _EXEMPT in tools/lint/libtorch_headers.py",
        )

    def test_fails_once_on_a_header_whose_cost_is_not_known(self):
        self.write("a/a.cc", "\n#include <ATen/new.h>\n")
        self.write("a/b.cc", "#include <ATen/new.h>\n")
        self.write("a/BUILD.bazel", 'trainyard_cc_library(name = "a", srcs = ["a.cc"])\n')
        self.assert_fails(
            "libtorch_headers",
            "a/a.cc:2: ATen/new.h is not in tools/lint/libtorch_header_lines.txt; "
            "add it with: tools/bazel run //tools/compile_cost -- --write_table",
        )


class LibtorchDepsTest(LibtorchTest):
    def setUp(self):
        super().setUp()
        self.write("a/nn.cc", "#include <ATen/core/Tensor.h>\n#include <torch/nn/module.h>\n")
        self.write("a/tensor.cc", '#include "tools/ok.h"\n')
        self.write("a/plain.cc", "#include <string>\n")

    # Source, what its target lists, what it must list, and why.
    WRONG = [
        ("nn", "@libtorch//:torch", "@libtorch//:nn", "a/nn.cc -> torch/nn/module.h (270,000 lines)"),
        ("tensor", "@libtorch//:nn", "@libtorch//:torch", "a/tensor.cc -> tools/ok.h -> ATen/core/Tensor.h (140,000 lines)"),
        ("tensor", "no @libtorch", "@libtorch//:torch", "a/tensor.cc -> tools/ok.h -> ATen/core/Tensor.h (140,000 lines)"),
        ("plain", "@libtorch//:torch", "none", "its files reach no header of libtorch"),
    ]

    def test_fails_on_what_does_not_fit_and_repairs_it(self):
        text, errors = "D = [':d']\n", []
        for file, listed, needed, reason in self.WRONG:
            label = [listed] if listed.startswith("@") else []
            ways = [f"deps = {label + [':é', ':y']}", f"deps = D + {label}", f"deps = [':x'] + {label}"]
            for way in ways if label else ways + ["deps = D", "size = 'small'"]:
                text += f"trainyard_cc_test(name = 't{len(errors)}', srcs = ['{file}.cc'], {way})\n"
                errors.append(f"//a:t{len(errors)} lists {listed} and must list {needed}: {reason}")
        self.write("a/BUILD.bazel", text)
        self.assert_fails("libtorch_headers", *errors, _REPAIR)
        self.assertEqual(self.lint("fix"), (0, ""))
        self.assert_clean("libtorch_headers")
        self.assert_clean("buildifier")

    def test_repairs_nothing_else(self):
        right = 'trainyard_cc_library(\n    name = "a",\n    srcs = ["a/nn.cc"],\n    deps = ["%s"],\n)\n'
        self.write("BUILD.bazel", right % "@libtorch//:torch")
        self.assertEqual(self.lint("fix"), (0, ""))
        self.assertEqual((self.root / "BUILD.bazel").read_text(), right % "@libtorch//:nn")

    def test_sees_headers_constants_and_loops(self):
        self.write("a/h.h", '#include "tools/ok.h"\n')
        self.write(
            "a/BUILD.bazel",
            "T = ['@libtorch//:torch']\nN = {'nn': T, 'tensor': T}\n"
            "trainyard_cc_library(name = 'right', srcs = ['plain.cc'], hdrs = ['h.h'], deps = T)\n"
            "[distributed_test(name = n + '_test', srcs = [n + '.cc'], deps = d) for n, d in N.items()]\n"
            "[(trainyard_cc_binary(name = n, srcs = [n + '.cc']),) for n in ['plain', 'tensor']]\n",
        )
        self.assert_fails(
            "libtorch_headers",
            "//a:n + '_test' lists @libtorch//:torch and must list @libtorch//:nn: a/nn.cc -> torch/nn/module.h (270,000 lines)",
            "//a:n lists no @libtorch and must list @libtorch//:torch: a/tensor.cc -> tools/ok.h -> ATen/core/Tensor.h (140,000 lines)",
            _REPAIR,
        )

    def test_passes_for_what_is_not_compiled_here_or_depends_on_the_configuration(self):
        self.write("a/h.h", "#include <ATen/core/Tensor.h>\n")
        self.write(
            "a/BUILD.bazel",
            "trainyard_cc_library(name = 'header', hdrs = ['h.h'])\n"
            "trainyard_cc_library(name = 'selected', srcs = select({':x': ['nn.cc']}))\n",
        )
        self.write("a/inner/WORKSPACE", "")
        self.write("a/inner/nn.cc", "#include <torch/nn/module.h>\n")
        self.write("a/inner/BUILD.bazel", "trainyard_cc_library(name = 'a', srcs = ['nn.cc'])\n")
        self.assert_clean("libtorch_headers")


class FormattingTest(LintTest):
    def test_fix_repairs_what_the_checks_report(self):
        self.write("a.cc", "int  a( ){return 1;}\n")
        self.write("b/BUILD.bazel", 'load("@rules_cc//cc:defs.bzl", "cc_library")\ncc_library(name="b",deps=["//c","//a"])\n')
        self.assert_fails("clang_format", "a.cc: not as clang-format lays it out", _REPAIR)
        self.assert_fails("buildifier", "b/BUILD.bazel: not as buildifier lays it out", _REPAIR)
        self.assertEqual(self.lint("fix"), (0, ""))
        self.assert_clean("clang_format")
        self.assert_clean("buildifier")
        self.assertEqual((self.root / "a.cc").read_text(), "int a() { return 1; }\n")

    def test_examples_in_comments_are_left_alone(self):
        shutil.copy(pathlib.Path(_LINT).resolve().parent.parent.parent / ".clang-format", self.root / ".clang-format")
        text = "// Purpose.\n//\n//   " + "Call(argument); " * 6 + "\n//   Short();\nint a;\n"
        self.write("a.cc", text.replace(" \n", "\n"))
        self.assert_clean("clang_format")

    def test_buildifier_also_fails_on_its_warnings_and_on_other_names(self):
        self.write("c/c.bzl", 'load("//a:a.bzl", "unused")\n')
        self.write("c/c.BUILD", "x(y=1)\n")
        self.assert_fails(
            "buildifier",
            "c/c.BUILD: not as buildifier lays it out",
            'c/c.bzl:1: load: Loaded symbol "unused" is unused. Please remove it.',
            "c/c.bzl:1: module-docstring: The file has no module docstring.",
            _REPAIR,
        )

    def test_buildifier_fails_on_rules_that_no_load_brings(self):
        self.write("c/BUILD.bazel", 'sh_test(\n    name = "c_test",\n    srcs = ["c_test.sh"],\n)\n')
        code, output = self.lint("buildifier")
        self.assertEqual(code, 1)
        self.assertIn("c/BUILD.bazel:1: native-sh-test: ", output)

    def test_a_missing_style_file_is_an_error(self):
        (self.root / ".clang-format").unlink()
        code, output = self.lint("clang_format")
        self.assertEqual(code, 1)
        self.assertIn("clang-format ended with", output)


class ReachesTrainerTest(LintTest):
    def setUp(self):
        super().setUp()
        self.write_build("trainer", _library("trainer"))

    def test_fails_on_a_chain_through_any_folder(self):
        self.write_build("tools", _library("between", "//trainer"))
        self.write_build("callbacks", _library("stopper", ":helper") + _library("helper", "//tools:between"))
        forbidden = "must not reach //trainer:trainer"
        chain = "//callbacks:helper -> //tools:between -> //trainer:trainer"
        self.assert_fails(
            "layering",
            f"//callbacks:helper {forbidden}: {chain}",
            f"//callbacks:stopper {forbidden}: //callbacks:stopper -> {chain}",
        )

    def test_sees_each_family_select_constants_and_aliases(self):
        self.write_build("backends", 'D = select({"//a:b": ["//trainer:trainer"]})\ncc_library(name = "d", deps = [":x"] + D)\n')
        self.write_build("finetuning", 'alias(name = "a", actual = "@trainyard//trainer")\n')
        self.assert_fails(
            "layering",
            *(f"{label} must not reach //trainer:trainer: {label} -> //trainer:trainer" for label in ("//backends:d", "//finetuning:a")),
        )

    def test_a_test_may_run_a_trainer(self):
        self.write_build("tracking", _library("t_test", "//trainer", rule="trainyard_cc_test"))
        self.assert_clean("layering")

    def test_visibility_is_no_dependency(self):
        self.write_build("callbacks", 'cc_library(name = "c", visibility = ["//trainer:trainer"])\n')
        self.assert_clean("layering")


class ForeignPartTest(LintTest):
    def message(self, label: str, dep: str) -> str:
        return (
            f"{label} must not depend on {dep}, a concrete part of another folder: "
            "take the interface, or list the pair under WRAPPERS in tools/lint/layering_rules.py"
        )

    def test_fails_on_another_folders_concrete_part(self):
        self.write_build("trainer/data", _library("loader", "//backends:ddp"))
        self.write_build("callbacks", _library("stopper", "//schedulers/more:cosine"))
        self.assert_fails(
            "layering",
            self.message("//callbacks:stopper", "//schedulers/more:cosine"),
            self.message("//trainer/data:loader", "//backends:ddp"),
        )

    def test_passes_for_interfaces_own_parts_tests_and_programs(self):
        part = "//schedulers:cosine"
        self.write_build("callbacks", _library("a", ":b", "//schedulers:schedule", "//tracking:run_history"))
        self.write_build("backends", _library("a_test", part, rule="trainyard_cc_test"))
        self.write_build("tracking", f"cc_library(name = 'x', testonly = True, deps = ['{part}'])\n")
        self.write_build("tools", _library("program", part, rule="trainyard_cc_binary"))
        self.assert_clean("layering")


class TorchFreeTest(LintTest):
    def test_fails_on_a_chain_to_libtorch(self):
        self.write_build("schedulers", _library("cosine", "//x:y") + _library("c_test", "@libtorch//:torch", rule="cc_test"))
        self.write_build("x", _library("y", "@libtorch_cpu//:torch"))
        self.assert_fails(
            "layering",
            "//schedulers:cosine must build without libtorch: //schedulers:cosine -> //x:y -> @libtorch_cpu//:torch",
        )

    def test_fails_when_the_list_names_what_is_gone(self):
        gone = next(pattern for pattern in layering_rules.TORCH_FREE if "*" not in pattern)
        self.write_build(gone.removeprefix("//").partition(":")[0], _library("other"), without=gone)
        self.assert_fails(
            "layering",
            f"TORCH_FREE in tools/lint/layering_rules.py lists {gone}, and no library is called that",
        )


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
