"""Holds the cost of libtorch's headers: who includes one of our headers must not pay for
torch/nn, c10d, TorchScript or autograd's functions.

A file with torch/nn/module.h takes ten times as long to compile as one with
ATen/core/Tensor.h. tools/compile_cost measures it; libtorch_deps.py holds the other half:
which precompiled header a target uses.
"""

import pathlib

import libtorch_deps
import libtorch_includes

# Refused in headers whatever they cost, with all that is in the folder.
_REFUSED = ("ATen/core/ivalue", "torch/csrc/autograd/custom_function.h", "torch/csrc/distributed/", "torch/csrc/jit/", "torch/nn/")
# Programs to read or to run, not to include; and what is precompiled.
_NOT_INCLUDED_BY_USERS = ("tools/bench/", "tools/build_rules/precompiled/", "tools/examples/", "tools/guide/")
# Header -> why it may include what others may not. Keep it short.
_EXEMPT = {
    "backends/sync_batch_norm.h": "it declares a torch::nn module, for members of the user's own modules",
}
_ADVICE = "declare the class here, and include its header in the .cc file"
_MEASURE = "tools/bazel run //tools/compile_cost -- --write_table"


def check(root: pathlib.Path, names: list[str]) -> list[str]:
    includes = libtorch_includes.Includes(root, names)
    table = libtorch_includes.read_table(root)
    errors = _missing_rows(includes, table)
    errors += _costly_headers(includes, table, libtorch_deps.test_only_files(root, names))
    return errors + libtorch_deps.check(root, names, includes, table)


def _missing_rows(includes: libtorch_includes.Includes, table: dict[str, int]) -> list[str]:
    return [
        f"{place}: {header} is not in {libtorch_includes.TABLE}; add it with: {_MEASURE}"
        for header, place in includes.libtorch_headers().items()
        if header not in table
    ]


def _reason(header: str, table: dict[str, int]) -> str:
    """Why headers must not include it; empty if they may."""
    lines = table.get(header, 0)
    if lines > libtorch_includes.HEAVY_LINES or header.startswith(_REFUSED):
        return f"{lines:,} lines"
    return ""


def _costly_headers(includes: libtorch_includes.Includes, table: dict[str, int], test_only: set[str]) -> list[str]:
    errors = []
    for name in sorted(includes.direct):
        if name.endswith(".cc") or name.startswith(_NOT_INCLUDED_BY_USERS) or name in test_only:
            continue
        found = []
        for number, header in includes.direct[name]:
            if libtorch_includes.is_libtorch(header) and (reason := _reason(header, table)):
                found.append(f"{name}:{number}: a header must not include {header} ({reason}); {_ADVICE}")
        if not found:
            # The first is reason enough: one file of ours lets it in.
            for header, chain in sorted(includes.chains(name).items()):
                if reason := _reason(header, table):
                    found = [f"{name}: a header must not reach {header} ({reason}): {' -> '.join(chain)}"]
                    break
        if name not in _EXEMPT:
            errors += found
        elif not found:
            errors.append(f"{name}: it needs no exemption; take it out of _EXEMPT in tools/lint/libtorch_headers.py")
    return errors
