"""Makes the files that some programs of the comparison need, once: compiled steps and JPEG images."""

import pathlib
import shutil
import subprocess
import sys

import environment
import frameworks

_IMAGES, _SIDE = 512, 256
_CONVERT = frameworks.HERE.parents[1] / "convert"


def images(where: environment.Environment, root: pathlib.Path) -> str:
    """A folder of JPEG files. Throws InstallError."""
    where.install("pillow")
    folder = root / f"images-{_IMAGES}-{_SIDE}"
    _once(folder, lambda to: _run(where, "pillow", [frameworks.HERE / "jpeg_files.py", to, _IMAGES, _SIDE]))
    return str(folder)


def compiled_steps(rows: list[frameworks.Row], where: environment.Environment, root: pathlib.Path) -> str:
    """A folder with the compiled steps of the rows. Throws InstallError."""
    where.install("safetensors")
    folder = root / f"steps-{where.version()}"
    for row in rows:
        _once(folder / frameworks.compiled_name(row), lambda to, row=row: _compile(row, where, to))
    return str(folder)


def _compile(row, where, folder):
    folder.mkdir()
    _run(where, "safetensors", [
        _CONVERT / "export_model.py", f"{frameworks.HERE / 'compiled_nets.py'}:{row.workload}", f"--out={folder}/net.safetensors",
        "--compile=cross_entropy", f"--threads={row.threads}"])


def _once(path, make):
    """A folder that is there is complete."""
    if path.exists():
        return
    new = path.with_name(path.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"Making {path}", file=sys.stderr, flush=True)
    make(new)
    new.rename(path)


def _run(where, name, arguments):
    environment.run([str(where.python), *map(str, arguments)], where.variables(name))
