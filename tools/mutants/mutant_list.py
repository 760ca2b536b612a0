"""The lists of mutants: reads them, finds their snippets in a source tree and makes the change.

A mutant is one small change of a source file that some tests must notice:

    [[mutant]]
    name = "evaluation-keeps-gradients"
    file = "trainer/loop/evaluator.cc"
    old = "const at::NoGradGuard no_gradients;"
    new = ""
    fails = ["//trainer/loop:evaluator_test EvaluationTest.KeepsNoGradients"]

`old` must be in the file exactly once. White space between its words and signs does not
matter, so that another layout does not. `fails` names the test targets that must fail, each alone or
with the test case that must.
"""

import dataclasses
import pathlib
import re
import tomllib

_KEYS = {"name", "file", "old", "new", "fails"}
_NAME = re.compile(r"[a-z0-9-]+")
_TEST = re.compile(r"(//[\w/]*:\w+)(?: (\w+\.\w+))?")
# A change may leave a variable unused: that must not keep it from being built.
_SILENCE = '#pragma clang diagnostic ignored "-Weverything"\n'


def _pattern(snippet: str) -> str:
    """Matches its words and signs with any white space between them."""
    pattern, last = "", ""
    for token in re.findall(r"\w+|\S", snippet):
        both_words = re.match(r"\w", token) and re.match(r"\w", last)
        pattern += (r"\s+" if both_words else r"\s*" if last else "") + re.escape(token)
        last = token
    return pattern


class ListError(Exception):
    """A list, or what it says of the source tree, is wrong."""


@dataclasses.dataclass(frozen=True)
class Expected:
    """A test that must fail."""

    target: str
    case: str = ""  # Suite.Name; empty: any

    def __str__(self) -> str:
        return f"{self.target} {self.case}".rstrip()


@dataclasses.dataclass(frozen=True)
class Mutant:
    area: str
    name: str
    file: str
    old: str
    new: str
    fails: tuple[Expected, ...]

    def mutated(self, text: str) -> str:
        """The file's text with the change. Throws ListError unless `old` is there exactly once."""
        found = list(re.finditer(_pattern(self.old), text))
        if len(found) != 1:
            times = "is not there" if not found else f"is there {len(found)} times"
            raise ListError(f"{self.area}.toml: {self.name}: its snippet {times} in {self.file}; it must be there once: {' '.join(self.old.split())}")
        changed = text[: found[0].start()] + self.new + text[found[0].end() :]
        return _SILENCE + changed if self.file.endswith(".cc") else changed

    def matches(self, pattern: str) -> bool:
        """Whether the pattern is its area or file, or in its name."""
        return pattern in (self.area, self.file) or pattern in self.name


def read_all(folder: pathlib.Path) -> list[Mutant]:
    """The mutants of all lists of the folder, by area. Throws ListError."""
    mutants, names = [], set()
    for path in sorted(folder.glob("*.toml")):
        for mutant in _read(path):
            if mutant.name in names:
                raise ListError(f"{path.name}: two mutants are named {mutant.name}")
            names.add(mutant.name)
            mutants.append(mutant)
    return mutants


def _read(path: pathlib.Path) -> list[Mutant]:
    try:
        entries = tomllib.loads(path.read_text())["mutant"]
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise ListError(f"{path.name}: cannot be read: {error}") from error
    mutants = []
    for entry in entries:
        name = entry.get("name", "?")
        wrong = _KEYS.symmetric_difference(entry)
        if wrong or not _NAME.fullmatch(name):
            raise ListError(f"{path.name}: {name}: needs exactly {', '.join(sorted(_KEYS))}, and a name of small letters; see {', '.join(sorted(wrong))}")
        tests = [_TEST.fullmatch(test) for test in entry["fails"]]
        if not tests or None in tests:
            raise ListError(f"{path.name}: {name}: fails must list tests as //package:target or //package:target Suite.Case")
        if not entry["old"].split() or entry["old"].split() == entry["new"].split():
            raise ListError(f"{path.name}: {name}: old and new are the same, or old is empty")
        expected = tuple(Expected(test[1], test[2] or "") for test in tests)
        mutants.append(Mutant(path.stem, name, entry["file"], entry["old"], entry["new"], expected))
    return mutants
