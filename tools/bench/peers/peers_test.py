#!/usr/bin/env -S python3 -B
"""Tables and charts of given figures, failed programs, and short runs of the C++ programs.

    peers_test.py PEERS_PY TRAINYARD_TRAIN CPP_TRAIN LOADER SAVE_AND_LOAD
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

_PROGRAM, _TRAINYARD, _CPP, _LOADER, _CHECKPOINT = (str(pathlib.Path(path).absolute()) for path in sys.argv[1:6])
sys.path.insert(0, str(pathlib.Path(_PROGRAM).resolve().parent))

import environment
import figures
import frameworks
import runs

_NAMES = {"trainyard": "Trainyard", "fast": "Fast & small", "slow": "Slow"}
_STEP = frameworks.KINDS["step"]


def result(number, framework, step, row="tiny"):
    return {"round": number, "row": row, "framework": framework, "p50_ms": step, "mean_ms": 2 * step, "startup_s": step,
            "peak_mb": 100 * step, "final_loss": 0.5}


def given():
    """The machine is slower in each round: only ratios of one round are meaningful."""
    steps = {"trainyard": (1, 2, 9), "fast": (2, 4, 10), "slow": (4, 8, 16)}
    return [result(i, name, step) for name, values in steps.items() for i, step in enumerate(values)]


def table_of(results):
    return figures.Figures(results, _NAMES, {"tiny": _STEP, "mlp": _STEP})


class FiguresTest(unittest.TestCase):
    def test_ratio_is_the_median_of_rounds(self):
        table = table_of(given())
        self.assertEqual(table.median("tiny", "fast", "p50_ms"), 4)
        self.assertEqual(table.ratio("tiny", "fast", "p50_ms"), 0.5)  # of 0.5, 0.5, 0.9
        self.assertEqual(table.ratio("tiny", "slow", "p50_ms"), 0.25)  # of 0.25, 0.25, 0.5625

    def test_ratio_uses_rounds_that_both_have(self):
        table = table_of([result(0, "trainyard", 1), result(1, "trainyard", 3), result(1, "fast", 4)])
        self.assertEqual(table.ratio("tiny", "fast", "p50_ms"), 0.75)
        self.assertIsNone(table.ratio("tiny", "slow", "p50_ms"))

    def test_markdown(self):
        text = table_of(given()).markdown({"tiny": "Tiny", "mlp": "MLP"}, {"tiny": {"slow": "too slow"}, "mlp": {"fast": "no"}})
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

    def test_ratios_of_rows_side_by_side(self):
        mlp = [result(i, name, step, "mlp") for name, step in (("trainyard", 3), ("slow", 6)) for i in range(3)]
        self.assertEqual(table_of(given() + mlp).ratios({"tiny": "tiny MLP", "mlp": "MLP", "conv": "not run"}), """\
| framework | tiny MLP | MLP |
| --- | ---: | ---: |
| Fast & small | 0.50 |  |
| Slow | 0.25 | 0.50 |
""")

    def test_names_where_trainyard_does_not_need_less(self):
        self.assertEqual(table_of(given()).not_lowest(), [])
        quick = [dict(result(i, "fast", 4), peak_mb=50) for i in range(3)]
        self.assertEqual(table_of([r for r in given() if r["framework"] != "fast"] + quick).not_lowest(),
                         ["tiny: peak memory, MB: 4.00 of Fast & small"])

    def test_summary(self):
        summary = table_of(given()).summary()["tiny"]["fast"]
        self.assertEqual(summary["rounds"], 3)
        self.assertEqual(summary["median"], {"p50_ms": 4, "startup_s": 4, "peak_mb": 400, "final_loss": 0.5})
        self.assertEqual(summary["trainyard_ratio"], {"p50_ms": 0.5, "startup_s": 0.5, "peak_mb": 0.5})

    def test_chart(self):
        svg = xml.etree.ElementTree.fromstring(table_of(given()).chart({"tiny": "Tiny; 1 thread"}, _NAMES))
        space = "{http://www.w3.org/2000/svg}"
        widths = [float(bar.get("width")) for bar in svg.iter(space + "rect")][1:]  # the first one is the background
        self.assertEqual([width / widths[2] for width in widths], [0.25, 0.5, 1])
        self.assertEqual([text.text for text in svg.iter(space + "text")], [
            "Tiny", "1 thread; ms per step", "Trainyard", "2.00", "Fast & small", "4.00", "Slow", "8.00"])

    def test_parse_result(self):
        line = '@@{"p50_ms": 1, "startup_s": 3, "final_loss": 4}'
        self.assertEqual(figures.parse_result(f"a log\n{line}\n", _STEP.fields), {"p50_ms": 1, "startup_s": 3, "final_loss": 4})
        for output, error in (("a log", "no result"), ("@@{", "no JSON"), (line.replace("4", "NaN"), "final_loss"), (line.replace("p50", "x"), "p50_ms")):
            with self.assertRaisesRegex(ValueError, error):
                figures.parse_result(output, _STEP.fields)

    def test_reason(self):
        self.assertEqual(figures.reason("Traceback\nImportError: no x\nbye\n"), "ImportError: no x")
        self.assertEqual(figures.reason("one\ntwo\n\n"), "two")


class RunsTest(unittest.TestCase):
    def run_script(self, script, ranks=1, timeout=60):
        return runs.run(["python3", "-c", script], ranks, 1, {}, _STEP.fields, timeout)

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
            runs.run(["/no/such"], 1, 1, {}, [])


class FrameworksTest(unittest.TestCase):
    def test_every_version_is_pinned(self):
        for folder in (frameworks.REQUIREMENTS, frameworks.OLDER_REQUIREMENTS):
            for path in folder.iterdir():
                for line in path.read_text(encoding="utf-8").splitlines():
                    self.assertRegex(line, r"^[A-Za-z0-9_.-]+==[0-9a-z.]+$", path.name)

    def test_each_framework_has_its_requirements(self):
        for older, folder in ((False, frameworks.REQUIREMENTS), (True, frameworks.OLDER_REQUIREMENTS)):
            needed = {f.requirements for f in frameworks.FRAMEWORKS if f.older_python == older} - {""} | {environment.BASE}
            self.assertEqual({path.stem for path in folder.iterdir()}, needed)
        names = {framework.key: framework.name for framework in frameworks.FRAMEWORKS}
        self.assertEqual(names["torch_fused"], "torch 2.13.0, bare loop, fused AdamW")
        self.assertEqual(names["pymarlin"], "PyMarlin 0.3.6")

    def test_each_row_has_a_command_for_every_framework_that_takes_it(self):
        programs = frameworks.Programs("T", "C", "L", "S", "python", "python3.10", "/steps", "/images")
        rows = frameworks.make_rows(frameworks.ROWS, [1, 2], 2)
        self.assertEqual(len({row.key for row in rows}), 4 * 2 + 2 + 4)
        self.assertEqual(sorted(reversed(rows), key=frameworks.place), rows)
        for row in rows:
            commands = [tuple(frameworks.command(f, row, frameworks.STEPS, programs)) for f in frameworks.FRAMEWORKS if f.takes(row)]
            self.assertEqual(len(set(commands)), len(commands), row.key)
            self.assertGreaterEqual(len(commands), 4, row.key)


class EnvironmentTest(unittest.TestCase):
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
        command = [_PROGRAM, f"--trainyard={trainyard}", f"--cpp={_CPP}", f"--loader={_LOADER}", f"--checkpoint={_CHECKPOINT}",
                   f"--environment={self.folder}", "--output=out", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"BUILD_WORKING_DIRECTORY": str(self.folder)})

    def report(self):
        return json.loads((self.folder / "out/peers.json").read_text())

    def test_cpp_programs(self):
        done = self.run_program("--rounds=2", "--rows=tiny,ddp_tiny", "--threads=1", "--steps=20", "--only=trainyard,cpp_fastest,cpp_libtorch")
        self.assertEqual(done.returncode, 0, done.stderr)
        losses = {(r["row"], r["framework"], r["round"]): r["final_loss"] for r in self.report()["results"]}
        programs = ("trainyard", "cpp_fastest", "cpp_libtorch")
        self.assertEqual(losses.keys(), {("tiny", p, i) for p in programs for i in (0, 1)} | {("ddp2_tiny", "trainyard", i) for i in (0, 1)})
        for (row, program, number), loss in losses.items():
            self.assertEqual(loss, losses[row, program, 0])  # the same work in each round
            self.assertLess(abs(loss - losses["tiny", "trainyard", 0]), 0.1)  # and in each program, in another order
        self.assertIn("| Trainyard | ", (self.folder / "out/peers.md").read_text())
        self.assertIn("libtorch has no DistributedDataParallel", done.stdout)
        self.assertTrue((self.folder / "out/peers.svg").read_text().startswith("<svg"))

    def test_convolution_net_learns_the_same_in_all_programs(self):
        done = self.run_program("--rounds=1", "--rows=conv", "--threads=1", "--steps=40", "--only=trainyard,cpp_fastest,cpp_libtorch")
        self.assertEqual(done.returncode, 0, done.stderr)
        losses = [r["final_loss"] for r in self.report()["results"]]
        self.assertEqual(len(losses), 3)
        self.assertLess(max(losses), 0.9)  # 2.3 without training
        self.assertLess(max(losses) - min(losses), 0.15)

    def test_loader_and_checkpoint(self):
        done = self.run_program("--rounds=1", "--rows=loader", "--only=trainyard,libtorch_0")
        self.assertEqual(done.returncode, 0, done.stderr)
        times = {r["framework"]: r["us_per_image"] for r in self.report()["results"]}
        self.assertEqual(times.keys(), {"trainyard", "libtorch_0"})
        done = self.run_program("--resume", "--rounds=1", "--rows=checkpoint", "--mebibytes=16", "--only=trainyard,torch::save")
        self.assertEqual(done.returncode, 0, done.stderr)
        saves = {r["framework"]: r for r in self.report()["results"] if r["row"] == "checkpoint"}
        self.assertLess(saves["trainyard"]["blocked_ms"], saves["trainyard"]["saved_ms"])
        text = (self.folder / "out/peers.md").read_text()
        self.assertIn("## loader: images in memory", text)  # of the earlier part
        self.assertIn("| torch::save (C++) |", text)

    def test_resume_runs_what_is_missing(self):
        first = ("--rows=tiny", "--threads=1", "--steps=20")
        self.assertEqual(self.run_program("--rounds=1", *first, "--only=trainyard", trainyard="/bin/false").returncode, 1)
        self.assertEqual(self.run_program("--rounds=1", "--resume", *first, "--only=trainyard").returncode, 0)  # tried again
        kept = self.report()["results"]
        self.assertEqual(self.run_program("--rounds=2", "--resume", *first, "--only=trainyard,cpp_fastest").returncode, 0)
        results = self.report()["results"]
        self.assertEqual(results[:1], kept)
        self.assertEqual({(r["framework"], r["round"]) for r in results}, {(name, i) for name in ("trainyard", "cpp_fastest") for i in (0, 1)})
        other = self.run_program("--resume", "--steps=30")
        self.assertEqual(other.returncode, 1)
        self.assertIn("use another --output", other.stderr)
        ended = self.run_program("--resume", "--rounds=9", "--minutes=0", *first, "--only=trainyard")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(self.report()["results"], results)

    def test_trainyard_must_have_a_result(self):
        done = self.run_program("--rounds=1", "--rows=tiny", "--steps=20", "--only=trainyard,cpp_fastest", trainyard="/bin/false")
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
