#!/usr/bin/env -S python3 -B
"""Runs mutants of a planted source tree with a planted Bazel, whose tests look for a word in a file.

    run_test.py RUN
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

_RUN = str(pathlib.Path(sys.argv[1]).absolute())

# Test x of package a passes if a/x.cc has the word "good"; "hang" is a case that never ends.
_BAZEL = r'''#!/usr/bin/env -S python3 -B
import pathlib, sys
command, targets = sys.argv[1], [word for word in sys.argv if word.startswith("//")]
pathlib.Path("calls.txt").open("a").write(" ".join([command, *targets]) + "\n")
if command == "query":
    print("<query>" + "".join(f'<rule name="{t}"><rule-input name="{t.removesuffix("_test")}.cc"/></rule>' for t in ["//a:x_test", "//a:y_test"]) + "</query>")
for target in targets:
    text = pathlib.Path(target[2:].replace(":", "/").removesuffix("_test") + ".cc").read_text()
    status = "FAILED TO BUILD" if "broken" in text else "PASSED" if "good" in text else "FAILED"
    log = pathlib.Path("bazel-testlogs") / target[2:].replace(":", "/") / "test.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    end = "" if "hang" in text else "[  FAILED  ] All/GoodTest.Works/1, where GetParam() = 1"
    log.write_text("[ RUN      ] GoodTest.Other\n[       OK ] GoodTest.Other\n[ RUN      ] All/GoodTest.Works/1\n" + end)
    if command == "test":
        print(f"{target}    {status} in 0.1s")
'''


def _mutant(name: str, **fields: object) -> str:
    entry = {"name": name, "file": "a/x.cc", "old": "good  work", "new": "bad", "fails": ["//a:x_test"]} | fields
    return "[[mutant]]\n" + "".join(f"{key} = {value!r}\n" for key, value in entry.items())


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.write("tree/a/x.cc", "int x; // good\n  work\n")
        self.write("tree/a/y.cc", "int y; // good\n")
        self.write("bazel", _BAZEL)
        (self.root / "bazel").chmod(0o755)

    def write(self, name: str, text: str):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def run_tool(self, *mutants: str, flags: tuple[str, ...] = ()) -> tuple[int, str]:
        self.write("lists/area.toml", "\n".join(mutants))
        command = [_RUN, f"--tree={self.root}/tree", f"--lists={self.root}/lists", f"--scratch={self.root}/scratch", f"--bazel={self.root}/bazel", *flags]
        result = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((self.root / "tree/a/x.cc").read_text(), "int x; // good\n  work\n")
        return result.returncode, result.stdout + result.stderr

    def test_killed(self):
        code, output = self.run_tool(_mutant("all"), _mutant("case", fails=["//a:x_test GoodTest.Works"]))
        self.assertIn("2 of 2 killed", output)
        self.assertEqual(code, 0)
        self.assertEqual((self.root / "scratch/a/x.cc").read_text(), "int x; // good\n  work\n")

    def test_survives_if_the_test_passes_or_another_case_fails(self):
        code, output = self.run_tool(_mutant("same", new="good deed"), _mutant("case", fails=["//a:x_test GoodTest.Other"]))
        self.assertIn("0 of 2 killed", output)
        self.assertIn("SURVIVED: same: //a:x_test\n", output)
        self.assertIn("SURVIVED: case: //a:x_test GoodTest.Other\n", output)
        self.assertEqual(code, 1)

    def test_every_named_test_must_fail(self):
        code, output = self.run_tool(_mutant("two", fails=["//a:x_test", "//a:y_test"]))
        self.assertIn("SURVIVED: two: //a:y_test\n", output)
        self.assertEqual(code, 1)

    def test_a_case_that_ends_the_program_has_failed(self):
        code, output = self.run_tool(_mutant("crash", new="hang", fails=["//a:x_test GoodTest.Works"]))
        self.assertIn("1 of 1 killed", output)
        self.assertEqual(code, 0)

    def test_does_not_build(self):
        code, output = self.run_tool(_mutant("broken", new="broken"))
        self.assertIn("DOES NOT BUILD: broken: //a:x_test\n", output)
        self.assertEqual(code, 1)

    def test_a_test_that_fails_anyway_shows_nothing(self):
        self.write("tree/a/y.cc", "int y;\n")
        code, output = self.run_tool(_mutant("y", file="a/y.cc", old="int y;", new="int z;", fails=["//a:y_test"]))
        self.assertIn("TEST FAILS WITHOUT IT: y: //a:y_test\n", output)
        self.assertEqual(code, 1)

    def test_builds_together_what_cannot_touch_each_other(self):
        y = _mutant("y", file="a/y.cc", old="good", new="bad", fails=["//a:y_test"])
        code, output = self.run_tool(_mutant("x1"), y, _mutant("x2"))
        self.assertIn("3 of 3 killed", output)
        calls = (self.root / "scratch/calls.txt").read_text().splitlines()
        self.assertEqual(calls, ["test //a:x_test //a:y_test", "query", "test //a:x_test //a:y_test", "test //a:x_test"])
        self.assertEqual(code, 0)

    def test_a_snippet_must_be_there_once(self):
        for old, times in (("gone", "is not there"), ("o", "is there 3 times")):
            code, output = self.run_tool(_mutant("snippet", old=old))
            self.assertIn(f"area.toml: snippet: its snippet {times} in a/x.cc", output)
            self.assertEqual(code, 2)

    def test_list_and_only(self):
        code, output = self.run_tool(_mutant("one"), _mutant("two"), flags=("--list", "--only=tw"))
        self.assertEqual((code, output), (0, "area: two (a/x.cc)\n    //a:x_test\n"))
        code, output = self.run_tool(_mutant("one"), flags=("--only=three",))
        self.assertIn("no mutant matches three", output)
        self.assertEqual(code, 2)

    def test_refuses_bad_lists(self):
        for mutant, message in (
            ("[[mutant]]\nname = 'a'\n", "area.toml: a: needs exactly fails, file, name, new, old"),
            (_mutant("a", fails=["x_test"]), "area.toml: a: fails must list tests"),
            (_mutant("a", new="good work"), "area.toml: a: old and new are the same"),
            (_mutant("a") + _mutant("a"), "area.toml: two mutants are named a"),
            ("no list", "area.toml: cannot be read"),
        ):
            code, output = self.run_tool(mutant)
            self.assertIn(message, output)
            self.assertEqual(code, 2)

    def test_follows_the_source_tree(self):
        self.write("tree/a/z.cc", "int z;\n")
        self.run_tool(_mutant("all"))
        self.write("scratch/kept.txt", "not ours\n")
        (self.root / "tree/a/z.cc").unlink()
        self.write("tree/a/y.cc", "int other; // good\n")
        self.run_tool(_mutant("all"))
        self.assertFalse((self.root / "scratch/a/z.cc").exists())
        self.assertTrue((self.root / "scratch/kept.txt").exists())
        self.assertEqual((self.root / "scratch/a/y.cc").read_text(), "int other; // good\n")

    def test_the_copy_is_not_in_the_source_tree(self):
        code, output = self.run_tool(_mutant("all"), flags=(f"--scratch={self.root}/tree/copy",))
        self.assertIn("choose another --scratch", output)
        self.assertEqual(code, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
