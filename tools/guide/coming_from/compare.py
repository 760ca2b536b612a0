#!/usr/bin/env -S python3 -B
"""Runs each Python program of this folder and its twin in C++, and prints their final losses side by side.

    tools/bazel run //tools/guide/coming_from:compare -- --only=lightning,determined --write

Makes a Python environment from pinned packages under ~/.cache/trainyard/peers, as //tools/bench:peers does. PyMarlin needs a
Python older than 3.11: --older_python names one. Ends with 1 if a pair differs by more than losses.TOLERANCE.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import losses

ROOT = losses.HERE.parents[2]
sys.path.insert(0, str(ROOT / "tools/bench/peers"))
import environment  # noqa: E402

# PyMarlin imports this at its start, and uses it only in runs of its own cloud service.
STUB = "azureml/core/run.py"


def run(command: list[str], variables: dict[str, str]) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with tempfile.TemporaryDirectory() as folder:  # some libraries write to where they run
        (pathlib.Path(folder) / STUB).parent.mkdir(parents=True)
        (pathlib.Path(folder) / STUB).write_text("Run = object\n")
        path = os.pathsep.join(filter(None, [variables.get("PYTHONPATH"), folder if "pymarlin" in command[-1] else ""]))
        done = subprocess.run(command, cwd=folder, env={**clean, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise ValueError(f"exit code {done.returncode}:\n{done.stdout[-2000:]}")
    return done.stdout


def run_python(library: str, flags: argparse.Namespace) -> dict[str, float]:
    requirements, python = ROOT / "tools/bench/peers/requirements", "python3"
    if library == "pymarlin":
        requirements, python = ROOT / "tools/bench/peers/older_requirements", flags.older_python
    installed = environment.Environment(requirements, flags.environment, python)
    installed.install(environment.BASE)
    installed.install(library)
    output = run([str(installed.python), str(losses.HERE / f"from_{library}.py")], installed.variables(library))
    if flags.show:
        print(output)
    return losses.parse(output)


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools/bazel run //tools/guide/coming_from:compare --", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append", required=True, help=argparse.SUPPRESS)  # given by the Bazel target
    parser.add_argument("--only", default="", help="libraries to run, separated by commas (default: all)")
    parser.add_argument("--older_python", default=environment.find_older_python(), help="for PyMarlin (default: %(default)s)")
    parser.add_argument("--environment", type=pathlib.Path, default=environment.default_root(),
                        help="folder of the Python packages (default: %(default)s)")
    parser.add_argument("--write", action="store_true", help="write the losses of the Python programs to losses.json")
    parser.add_argument("--show", action="store_true", help="print all that the Python programs print")
    flags = parser.parse_args()
    programs = {losses.library_of(program): os.path.abspath(program) for program in flags.program}
    chosen = flags.only.split(",") if flags.only else sorted(programs)
    if unknown := [library for library in chosen if library not in programs]:
        parser.error(f"--only={flags.only}: {unknown[0]} is none of {', '.join(sorted(programs))}")
    recorded = json.loads(losses.FILE.read_text()) if losses.FILE.exists() else {}
    failed = []
    for library in chosen:
        try:
            theirs = run_python(library, flags)
            ours = losses.parse(run([programs[library]], {}))
        except (ValueError, environment.InstallError) as error:
            print(f"{library}: {error}", flush=True)
            failed.append(library)
            continue
        apart = losses.difference(theirs, ours)
        print(f"{losses.cells(library, theirs, ours)} differ by {apart:.1e}", flush=True)
        if apart > losses.TOLERANCE:
            failed.append(library)
        recorded[library] = theirs
    if flags.write:
        losses.FILE.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    if failed:
        sys.exit(f"compare: {', '.join(failed)} failed")


if __name__ == "__main__":
    main()
