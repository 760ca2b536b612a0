"""Holds targets to the precompiled header that their files need.

It is chosen by what a target lists: @libtorch//:nn, @libtorch//:torch, or neither. The
cheaper one makes files that need more slow; the larger one makes small files slow.
"""

import ast
import dataclasses
import pathlib

import build_graph
import libtorch_includes

NN = "@libtorch//:nn"
TENSOR = "@libtorch//:torch"
_RULES = ("distributed_test", "trainyard_cc_benchmark", "trainyard_cc_binary", "trainyard_cc_library", "trainyard_cc_test")
REPAIR = "repair with: tools/bazel run //tools/lint:fix"


@dataclasses.dataclass
class _Target:
    """A call in a BUILD file. One in a list comprehension stands for all that it makes."""

    call: ast.Call
    label: str
    # With the headers that it lists.
    files: list[str]
    labels: list[str]
    test_only: bool


def _value(node: ast.expr | None, variables: dict):
    """What an expression of strings, lists and dicts is; throws for all others, such as select()."""
    if node is None:
        return []
    if isinstance(node, ast.Name):
        value = variables[node.id]
        return _value(value, variables) if isinstance(value, ast.expr) else value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _value(node.left, variables) + _value(node.right, variables)
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(item, variables) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {_value(key, variables): _value(value, variables) for key, value in zip(node.keys, node.values)}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "items":
        return list(_value(node.func.value, variables).items())
    return ast.literal_eval(node)


def _turns(loop: ast.ListComp, constants: dict) -> list[dict]:
    """The variables in each turn of a list comprehension; throws where they cannot be read."""
    (generator,) = loop.generators
    turns = []
    for item in _value(generator.iter, constants):
        if isinstance(generator.target, ast.Tuple):
            turns.append({variable.id: value for variable, value in zip(generator.target.elts, item)})
        else:
            turns.append({generator.target.id: item})
    return turns


_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError)


def _targets(text: str, name: str) -> list[_Target]:
    """The targets that a BUILD file compiles, except those whose files are in a select()."""
    package = name.rpartition("/")[0]
    tree = ast.parse(text, filename=name)
    constants = build_graph.constants_of(tree)
    loops = {}
    for loop in ast.walk(tree):
        if isinstance(loop, ast.ListComp):
            loops |= {id(node): loop for node in ast.walk(loop.elt)}
    all_test_only = "default_testonly = True" in text
    found = []
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _RULES):
            continue
        attributes = {keyword.arg: keyword.value for keyword in call.keywords}
        loop = loops.get(id(call))
        files = []
        try:
            for turn in _turns(loop, constants) if loop else [{}]:
                files += _value(attributes.get("srcs"), constants | turn) + _value(attributes.get("hdrs"), constants | turn)
        except _UNREADABLE:
            continue
        written = attributes["name"]
        # The labels of a dependency can come from what the loop runs over.
        sources = [attributes.get("deps"), loop and loop.generators[0].iter]
        found.append(
            _Target(
                call=call,
                label=f"//{package}:{written.value if isinstance(written, ast.Constant) else ast.unparse(written)}",
                files=[f"{package}/{file}".removeprefix("/") for file in files],
                labels=[label for source in sources if source for label in build_graph.strings(source, constants)],
                test_only=all_test_only or call.func.id.endswith(("_test", "_benchmark")) or "testonly" in attributes,
            )
        )
    return found


def _build_files(root: pathlib.Path, names: list[str]) -> dict[str, str]:
    """Name -> text, without those of another workspace inside this one."""
    inner = tuple(name.removesuffix("WORKSPACE") for name in names if name.endswith("/WORKSPACE"))
    return {
        name: (root / name).read_text()
        for name in names
        if (name == "BUILD.bazel" or name.endswith("/BUILD.bazel")) and not (inner and name.startswith(inner))
    }


def test_only_files(root: pathlib.Path, names: list[str]) -> set[str]:
    """Those that targets for tests list, and no other target."""
    users: dict[bool, set[str]] = {False: set(), True: set()}
    for name, text in _build_files(root, names).items():
        for target in _targets(text, name):
            users[target.test_only] |= set(target.files)
    return users[True] - users[False]


@dataclasses.dataclass
class _Wrong:
    target: _Target
    # One of NN, TENSOR and "", which is neither.
    listed: str
    needed: str
    # The way to the costliest header.
    chain: list[str]


def _wrong(text: str, name: str, includes: libtorch_includes.Includes, table: dict[str, int]) -> list[_Wrong]:
    found = []
    for target in _targets(text, name):
        # Without sources nothing is compiled.
        if not any(keyword.arg == "srcs" for keyword in target.call.keywords):
            continue
        chains = {}
        for file in target.files:
            for header, chain in includes.chains(file).items():
                chains.setdefault(header, chain)
        # What is not in the table is an error of its own, and until then nothing is known.
        if any(header not in table for header in chains):
            continue
        costliest = max(chains, key=lambda header: (table[header], header), default="")
        heavy = bool(chains) and table[costliest] > libtorch_includes.HEAVY_LINES
        needed = NN if heavy else TENSOR if chains else ""
        listed = next((label for label in (NN, TENSOR) if label in target.labels), "")
        if listed != needed:
            found.append(_Wrong(target, listed, needed, chains.get(costliest, [])))
    return found


def _deps(call: ast.Call) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == "deps"), None)


def check(root: pathlib.Path, names: list[str], includes: libtorch_includes.Includes, table: dict[str, int]) -> list[str]:
    errors = []
    for name, text in _build_files(root, names).items():
        for wrong in _wrong(text, name, includes, table):
            reason = f": {' -> '.join(wrong.chain)} ({table[wrong.chain[-1]]:,} lines)" if wrong.chain else ": its files reach no header of libtorch"
            errors.append(f"{wrong.target.label} lists {wrong.listed or 'no @libtorch'} and must list {wrong.needed or 'none'}{reason}")
    return errors + ([REPAIR] if errors else [])


def fix(root: pathlib.Path, names: list[str]):
    """Rewrites the deps of targets that the check reports. Leaves layout to buildifier."""
    includes = libtorch_includes.Includes(root, names)
    table = libtorch_includes.read_table(root)
    for name, text in _build_files(root, names).items():
        edits = [edit for wrong in _wrong(text, name, includes, table) if (edit := _edit(wrong, text))]
        # From the end, so that the positions of the others stay.
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        if edits:
            (root / name).write_text(text)


def _edit(wrong: _Wrong, text: str) -> tuple[int, int, str] | None:
    """What to replace, from where to where, and by what. None if a constant lists the label."""
    lines = text.splitlines(keepends=True)

    def position(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())

    call = wrong.target.call
    deps = _deps(call)
    nodes = list(ast.walk(deps)) if deps else []
    if wrong.listed:
        for node in nodes:
            if isinstance(node, ast.Constant) and node.value == wrong.listed:
                start, end = position(node.lineno, node.col_offset), position(node.end_lineno, node.end_col_offset)
                # With its comma, if it goes.
                return (start, end, f'"{wrong.needed}"') if wrong.needed else (start, end + (text[end] == ","), "")
        return None
    for node in nodes:
        if isinstance(node, ast.List):
            start = position(node.lineno, node.col_offset) + 1
            return start, start, f'"{wrong.needed}", '
    last = deps or call.keywords[-1].value
    end = position(last.end_lineno, last.end_col_offset)
    return end, end, f' + ["{wrong.needed}"]' if deps else f', deps = ["{wrong.needed}"]'
