#!/usr/bin/env -S python3 -B
"""Compares the time of a training step, start-up and peak memory of Trainyard with other frameworks.

    tools/bazel run //tools/bench:peers -- --rounds=5 --rows=tiny,mlp --only=trainyard,torch_fused,lightning

Makes a Python environment from the pinned packages in tools/bench/peers/requirements under ~/.cache/trainyard/peers. In each
round every framework runs once per row, in its own process and in random order. Writes peers.md, peers.json and
peers.svg to the folder --output after each round.
"""

import argparse
import json
import os
import pathlib
import platform
import random
import statistics
import sys

import environment
import figures
import frameworks
import runs

_BUSY_CORES = 0.15  # of other programs; more disturbs the figures


def _chosen(parser, flag, text, known):
    names = [name for name in text.split(",") if name]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        parser.error(f"{flag}={text}: must be a list of {', '.join(known)}")
    return names


def _positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be at least 1")
    return value


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/bazel run //tools/bench:peers --", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    keys = [framework.key for framework in frameworks.FRAMEWORKS]
    parser.add_argument("--rounds", type=_positive, default=5, help="rounds of all programs (default: 5)")
    parser.add_argument("--rows", default=",".join(frameworks.ROWS), help="(default: %(default)s)")
    parser.add_argument("--only", default=",".join(keys), help="frameworks to run (default: %(default)s)")
    parser.add_argument("--threads", default="1", help="of rows that are not data-parallel: 1, 2 or 1,2 (default: 1)")
    parser.add_argument("--ranks", type=_positive, default=2, help="of data-parallel rows (default: 2)")
    parser.add_argument("--steps", type=_positive, help="per run, to try it out (default: as many as the row needs)")
    parser.add_argument("--output", default="peers-results", help="folder to write (default: %(default)s)")
    parser.add_argument("--environment", type=pathlib.Path, default=environment.default_root(),
                        help="folder of the Python packages (default: %(default)s)")
    parser.add_argument("--trainyard", required=True, help=argparse.SUPPRESS)  # both given by the Bazel target
    parser.add_argument("--cpp", required=True, help=argparse.SUPPRESS)
    flags = parser.parse_args(arguments)
    flags.rows = _chosen(parser, "--rows", flags.rows, list(frameworks.ROWS))
    only = _chosen(parser, "--only", flags.only, keys)
    flags.only = [framework for framework in frameworks.FRAMEWORKS if framework.key in only]
    flags.threads = [int(count) for count in _chosen(parser, "--threads", flags.threads, [str(i) for i in range(1, 65)])]
    if flags.ranks < 2:
        parser.error(f"--ranks={flags.ranks}: must be at least 2")
    if flags.steps is not None and flags.steps < 10:
        parser.error(f"--steps={flags.steps}: must be at least 10, of which 5 are warm-up")
    # Bazel runs this in its own folder.
    flags.output = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / flags.output
    return flags


class Comparison:
    def __init__(self, flags):
        self._flags = flags
        self._rows = frameworks.make_rows(flags.rows, flags.threads, flags.ranks)
        self._environment = environment.Environment(frameworks.REQUIREMENTS, flags.environment)
        self._programs = {
            "trainyard": os.path.abspath(flags.trainyard),
            "cpp": os.path.abspath(flags.cpp),
            "python": str(self._environment.python),
        }
        self._results: list[dict] = []
        self._missing: dict[str, dict[str, str]] = {}  # row -> framework -> why it has no result

    def install(self):
        """Frameworks that do not install are left out of the rows."""
        base_error = ""
        if any(framework.requirements for framework in self._flags.only):
            try:
                self._environment.install(environment.BASE)
            except environment.InstallError as error:
                base_error = f"torch does not install: {error}"
        for framework in self._flags.only:
            if not framework.requirements:
                continue
            why = base_error
            if not why and framework.requirements != environment.BASE:
                try:
                    self._environment.install(framework.requirements)
                except environment.InstallError as error:
                    why = f"it does not install: {error}"
            for row in self._rows if why else []:
                self._leave_out(row, framework, why)

    def run(self):
        for number in range(self._flags.rounds):
            for row in self._rows:
                order = list(self._flags.only)
                random.Random(f"{number} {row.key}").shuffle(order)
                for framework in order:
                    self._run_one(number, row, framework)
            self.write()

    def _run_one(self, number, row, framework):
        if row.ranks > 1 and framework.not_parallel:
            self._leave_out(row, framework, framework.not_parallel, quiet=True)
        if framework.key in self._missing.get(row.key, {}):
            return
        steps = self._flags.steps or frameworks.STEPS[row.workload]
        command = frameworks.command(framework, row, steps, self._programs)
        variables = self._environment.variables(framework.requirements) if framework.requirements else {}
        try:
            result = runs.run(command, row.ranks, row.threads, variables)
        except runs.RunError as error:
            self._leave_out(row, framework, str(error))
            return
        self._results.append({"round": number, "row": row.key, "framework": framework.key, **result})
        print(f"round {number + 1}  {row.key:14} {framework.key:20} {result['p50_ms']:9.3f} ms  start-up {result['startup_s']:6.2f} s  "
              f"{result['peak_mb']:6.0f} MB  loss {result['final_loss']:.4f}", file=sys.stderr, flush=True)

    def _leave_out(self, row, framework, why, quiet=False):
        self._missing.setdefault(row.key, {}).setdefault(framework.key, why)
        if not quiet:
            print(f"{row.key}: {framework.key} has no result: {why}", file=sys.stderr, flush=True)

    def write(self):
        titles = {row.key: row.title for row in self._rows}
        # A framework that failed in a later round has incomplete figures: it is left out.
        complete = [r for r in self._results if r["framework"] not in self._missing.get(r["row"], {})]
        table = figures.Figures(complete, {framework.key: framework.name for framework in self._flags.only})
        other = statistics.median(result["other_cores"] for result in self._results) if self._results else 0
        about = {
            "rounds": self._flags.rounds, "cores": os.cpu_count(), "processor": _processor(), "python": platform.python_version(),
            "other_cores": other, "steps": self._flags.steps or frameworks.STEPS}
        self._flags.output.mkdir(parents=True, exist_ok=True)
        text = _HEAD.format(**about) + table.markdown(titles, self._missing)
        if other > _BUSY_CORES:
            text = text.replace("\n\n", f"\n\n**Other programs used {other:.1f} cores: repeat this on a quiet machine.**\n\n", 1)
        _write(self._flags.output / "peers.md", text)
        _write(self._flags.output / "peers.svg", table.chart(titles))
        report = {"about": about, "summary": table.summary(), "missing": self._missing, "results": self._results}
        _write(self._flags.output / "peers.json", json.dumps(report, indent=1) + "\n")
        return text

    def failed(self):
        """The programs of this repository must have a result in every row."""
        return sorted({name for names in self._missing.values() for name, why in names.items()
                       if name == "trainyard" or (name.startswith("cpp_") and "failed" in why)})


_HEAD = """# Trainyard beside other frameworks

{cores} cores ({processor}), Python {python}, rounds: {rounds}. Every framework trains the same network on the same records with AdamW,
cosine schedule per update and clipped gradient norm, in fp32. Values are medians; a ratio is Trainyard's value by that of the
framework (below 1: Trainyard needs less), the median of the ratios of single rounds.

"""


def _processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _write(path, text):
    """As a whole: a reader never sees half a file."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def main():
    flags = parse_arguments(sys.argv[1:])
    comparison = Comparison(flags)
    comparison.install()
    try:
        comparison.run()
    except KeyboardInterrupt:
        print("interrupted; the figures so far are kept", file=sys.stderr)
    print(comparison.write())
    print(f"Written: {flags.output}/peers.md, peers.json and peers.svg", file=sys.stderr)
    if comparison.failed():
        raise SystemExit(f"peers: no result of {', '.join(comparison.failed())}: see peers.md")


if __name__ == "__main__":
    main()
