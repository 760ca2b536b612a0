"""Starts the program under test and inspects its checkpoints; shared by the scripts here."""

import argparse
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).absolute().parents[2]


def built(path: str) -> pathlib.Path:
    """A program of ours: beside this file in a test of Bazel's, otherwise where Bazel builds it."""
    beside = ROOT / path
    return beside if beside.is_file() else ROOT / "bazel-bin" / path


SAVE_LOOP = built("tools/faults/save_loop")
CHECKPOINT = built("tools/inspect/checkpoint")


def arguments(description: str, trials: int | None = None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--command",
        default=f"{SAVE_LOOP} --run_dir={{run_dir}} --steps=20 --elements=300000",
        help="what is run; {run_dir} is the folder. It must go on from there by itself, "
        "and print or write (--summary) its state_crc32c at the end",
    )
    parser.add_argument("--summary", default="", help="file, e.g. {run_dir}/summary.json, that has state_crc32c")
    parser.add_argument("--work", default="", help="folder to work in; a new one in /tmp unless given")
    parser.add_argument("--seed", type=int, default=1)
    if trials is not None:
        parser.add_argument("--trials", type=int, default=trials)
    return parser


class Program:
    """A command that trains in a folder, whatever became of the run before."""

    def __init__(self, options: argparse.Namespace):
        for tool in (SAVE_LOOP, CHECKPOINT):
            if not tool.exists():
                raise SystemExit("build first: tools/bazel build //tools/faults:save_loop //tools/inspect:checkpoint")
        self.command = options.command
        self.summary = options.summary
        self.work = pathlib.Path(options.work or tempfile.mkdtemp(prefix="trainyard-faults-"))
        self.work.mkdir(parents=True, exist_ok=True)

    def argv(self, run_dir: pathlib.Path) -> list[str]:
        return shlex.split(self.command.format(run_dir=run_dir))

    def fresh(self, name: str) -> pathlib.Path:
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def run(self, run_dir: pathlib.Path, **kwargs) -> subprocess.CompletedProcess:
        return subprocess.run(self.argv(run_dir), capture_output=True, text=True, **kwargs)

    def crc(self, run_dir: pathlib.Path, output: str) -> str | None:
        """The state at the end of a run."""
        text = output
        if self.summary:
            path = pathlib.Path(self.summary.format(run_dir=run_dir))
            text = path.read_text() if path.exists() else ""
        found = re.findall(r'state_crc32c"?:?\s*"?([0-9a-f]{8})', text)
        return found[-1] if found else None


def verify(run_dir: pathlib.Path) -> tuple[bool, set[int], str]:
    """Whether every checkpoint that is listed is sound, their steps, and what the tool said."""
    if not run_dir.exists():
        return True, set(), ""
    done = subprocess.run([CHECKPOINT, "verify", run_dir], capture_output=True, text=True)
    steps = {int(step) for step in re.findall(r"^sound .*step-(\d+)", done.stdout, re.M)}
    return done.returncode == 0, steps, done.stdout + done.stderr


def half_done(run_dir: pathlib.Path) -> list[str]:
    """What a save or a removal left."""
    if not run_dir.exists():
        return []
    return sorted(path.name for path in run_dir.iterdir() if path.name.startswith((".tmp-step-", ".trash-")))
