"""Runs the programs of the comparison in rounds, and writes what they measured."""

import dataclasses
import json
import os
import platform
import random
import statistics
import sys
import time

import environment
import figures
import frameworks
import prepare
import runs

_BUSY_CORES = 0.15  # of other programs; more disturbs the figures


class Comparison:
    def __init__(self, flags):
        """Throws ValueError if --resume finds results of another --steps."""
        self._flags = flags
        self._rows = frameworks.make_rows(flags.rows, flags.threads, flags.ranks)
        self._written = list(self._rows)  # and those of earlier parts
        self._environment = environment.Environment(frameworks.REQUIREMENTS, flags.environment)
        self._older = environment.Environment(
            frameworks.OLDER_REQUIREMENTS, flags.environment, flags.older_python or environment.find_older_python())
        self._programs = frameworks.Programs(
            *(os.path.abspath(path) for path in (flags.trainyard, flags.cpp, flags.loader, flags.checkpoint)), mebibytes=flags.mebibytes)
        self._results: list[dict] = []
        self._missing: dict[str, dict[str, str]] = {}  # row -> framework -> why it has no result
        self._end = time.monotonic() + 60 * flags.minutes if flags.minutes is not None else float("inf")
        if flags.resume:
            self._read_earlier(flags.output / "peers.json")

    def _read_earlier(self, path):
        if not path.exists():
            return
        earlier = json.loads(path.read_text(encoding="utf-8"))
        if earlier["about"]["steps"] != self._steps():
            raise ValueError(f"{path} has results of {earlier['about']['steps']} steps; use another --output")
        self._results, self._missing = earlier["results"], earlier["missing"]
        rows = {row["key"]: frameworks.Row(**row) for row in earlier["rows"]} | {row.key: row for row in self._rows}
        self._written = sorted(rows.values(), key=frameworks.place)
        for row in self._rows:  # what failed is tried again
            for framework in self._flags.only:
                self._missing.get(row.key, {}).pop(framework.key, None)

    def _steps(self):
        return {workload: self._flags.steps or steps for workload, steps in frameworks.STEPS.items()}

    def prepare(self):
        """Installs packages and makes files. Frameworks that do not install are left out of the rows."""
        root = self._flags.environment
        for framework in self._flags.only:
            rows = [row for row in self._rows if framework.takes(row)]
            try:
                if rows and framework.requirements:
                    self._where(framework).install(environment.BASE)
                    self._where(framework).install(framework.requirements)
                if rows and framework.key == "trainyard_compiled":
                    self._programs = dataclasses.replace(self._programs, compiled=prepare.compiled_steps(rows, self._environment, root))
                if any(row.key == "jpeg" for row in rows):
                    self._environment.install(environment.BASE)
                    self._programs = dataclasses.replace(self._programs, jpegs=prepare.images(self._environment, root))
            except environment.InstallError as error:
                for row in rows:
                    self._leave_out(row, framework, f"it does not install: {error}")
        self._programs = dataclasses.replace(self._programs, python=str(self._environment.python), older_python=str(self._older.python))

    def _where(self, framework):
        return self._older if framework.older_python else self._environment

    def run(self):
        done = {(result["round"], result["row"], result["framework"]) for result in self._results}
        for number in range(self._flags.rounds):
            for row in self._rows:
                order = [framework for framework in self._flags.only if framework.takes(row)]
                random.Random(f"{number} {row.key}").shuffle(order)
                for framework in order:
                    if (number, row.key, framework.key) in done:
                        continue
                    if time.monotonic() > self._end:
                        return
                    self._run_one(number, row, framework)
                self.write()

    def _run_one(self, number, row, framework):
        if row.ranks > 1 and framework.not_parallel:
            self._leave_out(row, framework, framework.not_parallel, quiet=True)
        if framework.key in self._missing.get(row.key, {}):
            return
        command = frameworks.command(framework, row, self._steps(), self._programs)
        variables = self._where(framework).variables(framework.requirements) if framework.requirements else {}
        kind = frameworks.KINDS[row.kind]
        try:
            result = runs.run(command, row.ranks, row.threads, variables, kind.fields)
        except runs.RunError as error:
            self._leave_out(row, framework, str(error))
            return
        self._results.append({"round": number, "row": row.key, "framework": framework.key, **result})
        values = "  ".join(f"{field} {result[field]:.4g}" for _, field, *_ in (*kind.columns, *kind.facts))
        print(f"round {number + 1}  {row.key:14} {framework.key:20} {values}", file=sys.stderr, flush=True)

    def _leave_out(self, row, framework, why, quiet=False):
        self._missing.setdefault(row.key, {}).setdefault(framework.key, why)
        if not quiet:
            print(f"{row.key}: {framework.key} has no result: {why}", file=sys.stderr, flush=True)

    def write(self):
        titles = {row.key: row.title for row in self._written}
        # A framework that failed in a later round has incomplete figures: it is left out.
        complete = [r for r in self._results if r["framework"] not in self._missing.get(r["row"], {})]
        names = {framework.key: framework.name for framework in frameworks.FRAMEWORKS}
        table = figures.Figures(complete, names, {row.key: frameworks.KINDS[row.kind] for row in self._written})
        other = statistics.median(result["other_cores"] for result in self._results) if self._results else 0
        about = {
            "rounds": self._flags.rounds, "cores": os.cpu_count(), "processor": _processor(), "python": platform.python_version(),
            "other_cores": other, "steps": self._steps()}
        trained = {row.key: row.short for row in self._written if row.kind in ("step", "accuracy")}
        text = _HEAD.format(**about, ratios=table.ratios(trained), not_lowest=_list(table.not_lowest())) + table.markdown(titles, self._missing)
        if other > _BUSY_CORES:
            text = text.replace("\n\n", f"\n\n**Other programs used {other:.1f} cores: repeat this on a quiet machine.**\n\n", 1)
        self._flags.output.mkdir(parents=True, exist_ok=True)
        _write(self._flags.output / "peers.md", text)
        # Two threads look much like one.
        charted = {row.key: row.title for row in self._written if row.key.removesuffix("_2t") not in titles.keys() - {row.key}}
        _write(self._flags.output / "peers.svg", table.chart(charted, {framework.key: framework.short for framework in frameworks.FRAMEWORKS}))
        report = {
            "about": about, "rows": [dataclasses.asdict(row) for row in self._written], "summary": table.summary(),
            "missing": self._missing, "results": self._results}
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

Ratios of the time of a step, and of the time to an accuracy:

{ratios}
Where Trainyard does not need less:

{not_lowest}

"""


def _list(lines):
    return "\n".join(f"- {line}" for line in lines or ["nowhere"])


def _processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _write(path, text):
    """As a whole: a reader never sees half a file."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)
