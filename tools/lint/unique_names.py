"""Fails on a name that stands for two things in one namespace of our headers.

Each header may compile alone; a program that includes both does not, or, worse, has two
classes of one name, of which the linker keeps one. Overloads and forward declarations are
one thing.
"""

import collections
import pathlib

import declarations


def check(root: pathlib.Path, names: list[str]) -> list[str]:
    places = collections.defaultdict(list)
    for name in names:
        if name.endswith(".h"):
            for found in declarations.read(root / name):
                if not found.in_class and "(anonymous)" not in found.scope:
                    places[found.scope, found.name].append((name, found))
    errors = []
    for (scope, name), declared in sorted(places.items()):
        first_file, first = declared[0]
        for file, other in declared[1:]:
            both = first.defined and other.defined and first.kind != "function"
            if other.kind != first.kind or both:
                full = f"{scope}::{name}" if scope else name
                errors.append(
                    f"{file}:{other.line}: {full} is a {other.kind} here and a {first.kind} in "
                    f"{first_file}:{first.line}: rename one, or put it into a namespace of its own"
                )
                break
            if other.defined and not first.defined:
                first_file, first = file, other
    return errors
