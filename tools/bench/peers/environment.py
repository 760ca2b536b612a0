"""The Python environment of the comparison, made from the pinned packages in requirements/.

torch is installed into a virtual environment. Each framework gets a folder of its own, which is put on PYTHONPATH for
its runs: one that does not install leaves the others alone, and no two have to agree on a version.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

BASE = "torch"


class InstallError(Exception):
    """Why packages could not be installed."""


class Environment:
    def __init__(self, requirements: pathlib.Path, root: pathlib.Path, base_python: str = "python3"):
        """`base_python` is the program that makes the virtual environment."""
        self._requirements = requirements
        self._base_python = base_python
        self._root = root
        self._folders: dict[str, pathlib.Path] = {}

    @property
    def python(self) -> pathlib.Path:
        return self._folder(BASE) / "bin/python"

    def install(self, name: str) -> None:
        """Installs requirements/NAME.txt, if it is not yet installed. Throws InstallError."""
        folder = self._folder(name)
        if (folder / "installed").exists():
            return
        if shutil.which(self._base_python) is None:
            raise InstallError(f"{self._base_python} is not installed")
        shutil.rmtree(folder, ignore_errors=True)  # from an interrupted run
        folder.mkdir(parents=True)
        print(f"Installing {name} into {folder}", file=sys.stderr, flush=True)
        file = str(self._requirements / f"{name}.txt")
        if name == BASE:
            run([self._base_python, "-m", "venv", str(folder)])
            run([str(self.python), "-m", "pip", "install", "--quiet", "--requirement", file])
        else:
            run([str(self.python), "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder),
                  "--requirement", file])
        (folder / "installed").touch()

    def version(self) -> str:
        """Differs if torch or Python does."""
        return self._folder(BASE).name.removeprefix(BASE + "-")

    def variables(self, name: str) -> dict[str, str]:
        """Environment variables with which the Python programs of one framework run."""
        if name == BASE:
            return {}
        return {"PYTHONPATH": str(self._folder(name))}

    def _folder(self, name: str) -> pathlib.Path:
        """Named by what is installed in it: other versions go to another folder."""
        if name not in self._folders:
            content = (self._requirements / f"{name}.txt").read_bytes()
            content += (self._requirements / f"{BASE}.txt").read_bytes() + sys.version.encode()
            if self._base_python != "python3":
                content += self._base_python.encode()
            self._folders[name] = self._root / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}"
        return self._folders[name]


def find_older_python() -> str:
    """A Python 3.10, on PATH or of pyenv."""
    found = [shutil.which("python3.10"), *map(str, sorted(pathlib.Path.home().glob(".pyenv/versions/3.10.*/bin/python3.10")))]
    for program in filter(None, found):
        # pyenv puts programs on PATH that only say which versions have them.
        if subprocess.run([program, "--version"], capture_output=True).returncode == 0:
            return program
    return "python3.10"


def default_root() -> pathlib.Path:
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "trainyard/peers"


def run(command: list[str], variables: dict[str, str] | None = None) -> None:
    """Throws InstallError with the program's last error."""
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ | (variables or {}))
    if result.returncode != 0:
        lines = [line for line in result.stderr.splitlines() if "ERROR" in line] or result.stderr.splitlines() or ["no message"]
        raise InstallError(lines[-1].removeprefix("ERROR: "))
