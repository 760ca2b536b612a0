"""Runs tests with Bazel and says which of them, and which of their cases, failed."""

import dataclasses
import pathlib
import re
import subprocess
import xml.etree.ElementTree

_SUMMARY = re.compile(r"^(//\S+)\s+(?:\(cached\) )?(PASSED|FAILED TO BUILD|FAILED|TIMEOUT|NO STATUS|FLAKY|SKIPPED)\b", re.MULTILINE)
_STARTED = re.compile(r"\[ RUN      \] (\S+)")
_ENDED = re.compile(r"\[(?:       OK|  SKIPPED) \] (\S+)")
_FAILED = re.compile(r"\[  FAILED  \] ([\w/]+\.[\w/]+)")


@dataclasses.dataclass
class Result:
    status: str  # PASSED, FAILED or NOT BUILT
    failed_cases: set[str] = dataclasses.field(default_factory=set)


def case_name(name: str) -> str:
    """Suite.Name, without the instance and the number of a parameterised test."""
    suite, _, case = name.partition(".")
    return f"{suite.rpartition('/')[2]}.{case.partition('/')[0]}"


def failed_cases(log: str) -> set[str]:
    """The cases of a GoogleTest log that failed, or that ended the program."""
    ended = set(_ENDED.findall(log))
    failed = set(_FAILED.findall(log))
    failed |= {case for case in _STARTED.findall(log) if case not in ended}
    return {case_name(case) for case in failed}


class Bazel:
    def __init__(self, program: str, tree: pathlib.Path, flags: list[str]):
        self._program = program
        self._tree = tree
        self._flags = flags
        self.output = ""  # of the last command

    def _run(self, *arguments: str) -> subprocess.CompletedProcess:
        result = subprocess.run([self._program, *arguments], cwd=self._tree, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.output = result.stdout + result.stderr
        return result

    def test(self, targets: list[str]) -> dict[str, Result]:
        """Builds and runs the targets. By target; suites are given by the tests in them, too."""
        self._run("test", "--keep_going", "--noshow_progress", "--color=no", "--test_output=summary", "--test_summary=short", "--build_tests_only", *self._flags, *targets)
        results = {}
        for target, status in _SUMMARY.findall(self.output):
            if status in ("FAILED", "TIMEOUT", "FLAKY"):
                log = self._tree / "bazel-testlogs" / target[2:].replace(":", "/") / "test.log"
                text = log.read_text(errors="replace") if log.exists() else ""
                results[target] = Result("FAILED", failed_cases(text))
            else:
                results[target] = Result("PASSED" if status in ("PASSED", "SKIPPED") else "NOT BUILT")
        return results

    def sources_of(self, targets: list[str]) -> dict[str, set[str]]:
        """All files of this tree that each target is made of."""
        query = f"deps(set({' '.join(targets)}))"
        result = self._run("query", "--output=xml", "--noimplicit_deps", "--color=no", query)
        if result.returncode != 0:
            raise RuntimeError(f"{self._program} query failed:\n{self.output}")
        inputs = {rule.get("name"): [item.get("name") for item in rule.iter("rule-input")] for rule in xml.etree.ElementTree.fromstring(result.stdout).iter("rule")}
        return {target: _files(target, inputs) for target in targets}


def _files(target: str, inputs: dict[str, list[str]]) -> set[str]:
    seen, waiting = set(), [target]
    while waiting:
        label = waiting.pop()
        if label not in seen:
            seen.add(label)
            waiting += inputs.get(label, [])
    return {label[2:].replace(":", "/").lstrip("/") for label in seen if label.startswith("//")}
