#!/usr/bin/env -S python3 -B
"""Tables and charts of given figures, failed programs, and short runs of the C++ programs.

    peers_test.py PEERS_PY TRAINYARD_TRAIN CPP_TRAIN
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

_PROGRAM, _TRAINYARD, _CPP = (str(pathlib.Path(path).absolute()) for path in sys.argv[1:4])
sys.path.insert(0, str(pathlib.Path(_PROGRAM).resolve().parent))

import environment
import figures
import frameworks
import runs

_NAMES = {"trainyard": "Trainyard", "fast": "Fast & small", "slow": "Slow"}


def result(number, framework, step, row="tiny"):
    return {"round": number, "row": row, "framework": framework, "p50_ms": step, "mean_ms": 2 * step, "startup_s": step,
            "peak_mb": 100 * step, "final_loss": 0.5}


def given():
    """The machine is slower in each round: only ratios of one round are meaningful."""
    steps = {"trainyard": (1, 2, 9), "fast": (2, 4, 10), "slow": (4, 8, 16)}
    return [result(i, name, step) for name, values in steps.items() for i, step in enumerate(values)]


class FiguresTest(unittest.TestCase):
    def test_ratio_is_the_median_of_rounds(self):
        table = figures.Figures(given(), _NAMES)
        self.assertEqual(table.median("tiny", "fast", "p50_ms"), 4)
        self.assertEqual(table.ratio("tiny", "fast", "p50_ms"), 0.5)  # of 0.5, 0.5, 0.9
        self.assertEqual(table.ratio("tiny", "slow", "p50_ms"), 0.25)  # of 0.25, 0.25, 0.5625

    def test_ratio_uses_rounds_that_both_have(self):
        table = figures.Figures([result(0, "trainyard", 1), result(1, "trainyard", 3), result(1, "fast", 4)], _NAMES)
        self.assertEqual(table.ratio("tiny", "fast", "p50_ms"), 0.75)
        self.assertIsNone(table.ratio("tiny", "slow", "p50_ms"))

    def test_markdown(self):
        text = figures.Figures(given(), _NAMES).markdown({"tiny": "Tiny", "mlp": "MLP"}, {"tiny": {"slow": "too slow"}, "mlp": {"fast": "no"}})
        self.assertEqual(text, """## Tiny

| framework | time of a step, ms | Trainyard's ratio | start-up to the first step, s | Trainyard's ratio | peak memory, MB | Trainyard's ratio | final loss |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| Trainyard | 2.00 | 1.00 | 2.00 | 1.00 | 200 | 1.00 | 0.500 |
| Fast & small | 4.00 | 0.50 | 4.00 | 0.50 | 400 | 0.50 | 0.500 |
| Slow | 8.00 | 0.25 | 8.00 | 0.25 | 800 | 0.25 | 0.500 |

- Slow has no result: too slow

## MLP

- Fast & small has no result: no
""")

    def test_summary(self):
        summary = figures.Figures(given(), _NAMES).summary()["tiny"]["fast"]
        self.assertEqual(summary["rounds"], 3)
        self.assertEqual(summary["median"], {"p50_ms": 4, "mean_ms": 8, "startup_s": 4, "peak_mb": 400, "final_loss": 0.5})
        self.assertEqual(summary["trainyard_ratio"], {"p50_ms": 0.5, "mean_ms": 0.5, "startup_s": 0.5, "peak_mb": 0.5})

    def test_chart(self):
        svg = xml.etree.ElementTree.fromstring(figures.Figures(given(), _NAMES).chart({"tiny": "Tiny"}))
        space = "{http://www.w3.org/2000/svg}"
        widths = [float(bar.get("width")) for bar in svg.iter(space + "rect")][1:]  # the first one is the background
        self.assertEqual([width / widths[2] for width in widths], [0.25, 0.5, 1])
        self.assertEqual([text.text for text in svg.iter(space + "text")], [
            "Tiny: ms per step", "Trainyard", "2.00", "Fast & small", "4.00  (Trainyard: 0.50 of it)", "Slow",
            "8.00  (Trainyard: 0.25 of it)"])

    def test_parse_result(self):
        line = '@@{"p50_ms": 1, "mean_ms": 2, "startup_s": 3, "final_loss": 4}'
        self.assertEqual(figures.parse_result(f"a log\n{line}\n"), {"p50_ms": 1, "mean_ms": 2, "startup_s": 3, "final_loss": 4})
        for output, error in (("a log", "no result"), ("@@{", "no JSON"), (line.replace("4", "NaN"), "final_loss"), (line.replace("mean", "x"), "mean_ms")):
            with self.assertRaisesRegex(ValueError, error):
                figures.parse_result(output)

    def test_reason(self):
        self.assertEqual(figures.reason("Traceback\nImportError: no x\nbye\n"), "ImportError: no x")
        self.assertEqual(figures.reason("one\ntwo\n\n"), "two")


class RunsTest(unittest.TestCase):
    def run_script(self, script, ranks=1, timeout=60):
        return runs.run(["python3", "-c", script], ranks, 1, {}, timeout)

    def test_result_of_rank_0(self):
        script = """
import json, os
values = {"p50_ms": int(os.environ["RANK"]) + 1, "mean_ms": int(os.environ["WORLD_SIZE"]), "startup_s": 0, "final_loss": int(os.environ["OMP_NUM_THREADS"])}
print("@@" + json.dumps(values))"""
        found = self.run_script(script, ranks=2)
        self.assertEqual((found["p50_ms"], found["mean_ms"], found["final_loss"]), (1, 2, 1))
        self.assertGreater(found["peak_mb"], 1)

    def test_failed_rank_ends_the_others(self):
        script = "import os, time\nif os.environ['RANK'] == '1': raise ValueError('broken')\ntime.sleep(3600)"
        with self.assertRaisesRegex(runs.RunError, "rank 1 failed: ValueError: broken"):
            self.run_script(script, ranks=2)

    def test_timeout(self):
        with self.assertRaisesRegex(runs.RunError, "more than 1 s"):
            self.run_script("import time; time.sleep(3600)", timeout=1)

    def test_missing_program(self):
        with self.assertRaisesRegex(runs.RunError, "/no/such does not start"):
            runs.run(["/no/such"], 1, 1, {})


class EnvironmentTest(unittest.TestCase):
    def test_every_version_is_pinned(self):
        for path in frameworks.REQUIREMENTS.iterdir():
            for line in path.read_text(encoding="utf-8").splitlines():
                self.assertRegex(line, r"^[A-Za-z0-9_.-]+==[0-9a-z.]+$", path.name)

    def test_each_framework_has_its_requirements(self):
        files = {path.stem for path in frameworks.REQUIREMENTS.iterdir()}
        self.assertEqual(files, {f.requirements for f in frameworks.FRAMEWORKS} - {""})
        self.assertEqual(frameworks.FRAMEWORKS[3].name, "torch 2.13.0, bare loop, fused AdamW")

    def test_other_versions_go_to_another_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "torch.txt").write_text("torch==2.13.0\n")
            first = environment.Environment(root, root).python
            self.assertEqual(environment.Environment(root, root).python, first)
            (root / "torch.txt").write_text("torch==2.13.1\n")
            self.assertNotEqual(environment.Environment(root, root).python, first)


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, trainyard=_TRAINYARD):
        command = [_PROGRAM, f"--trainyard={trainyard}", f"--cpp={_CPP}", f"--environment={self.folder}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"BUILD_WORKING_DIRECTORY": str(self.folder)})

    def test_cpp_programs(self):
        done = self.run_program("--rounds=2", "--rows=tiny,ddp_tiny", "--steps=20", "--only=trainyard,cpp_fastest,cpp_libtorch", "--output=out")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads((self.folder / "out/peers.json").read_text())
        losses = {(r["row"], r["framework"], r["round"]): r["final_loss"] for r in report["results"]}
        programs = ("trainyard", "cpp_fastest", "cpp_libtorch")
        self.assertEqual(losses.keys(), {("tiny", p, i) for p in programs for i in (0, 1)} | {("ddp2_tiny", "trainyard", i) for i in (0, 1)})
        for (row, program, number), loss in losses.items():
            self.assertEqual(loss, losses[row, program, 0])  # the same work in each round
            self.assertLess(abs(loss - losses["tiny", "trainyard", 0]), 0.1)  # and in each program, in another order
        self.assertIn("| Trainyard | ", (self.folder / "out/peers.md").read_text())
        self.assertIn("libtorch has no DistributedDataParallel", done.stdout)
        self.assertTrue((self.folder / "out/peers.svg").read_text().startswith("<svg"))

    def test_trainyard_must_have_a_result(self):
        done = self.run_program("--rounds=1", "--rows=tiny", "--steps=20", "--only=trainyard,cpp_fastest", "--output=out", trainyard="/bin/false")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no result of trainyard", done.stderr)
        self.assertIn("- Trainyard has no result: rank 0 failed", (self.folder / "out/peers.md").read_text())

    def test_bad_arguments(self):
        for argument, message in (("--rows=big", "--rows=big: must be a list of tiny, mlp"), ("--only=keras", "--only=keras: must be a list of trainyard"),
                                  ("--rounds=0", "at least 1"), ("--steps=3", "--steps=3: must be at least 10"), ("--ranks=1", "--ranks=1"),
                                  ("--threads=0", "--threads=0")):
            done = self.run_program(argument)
            self.assertEqual(done.returncode, 2, argument)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
