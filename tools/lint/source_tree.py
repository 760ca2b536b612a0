"""The files of a source tree, whether a BUILD file lists them or not."""

import os
import pathlib
import subprocess


def list_files(root: pathlib.Path) -> list[str]:
    """Paths, relative to `root`, of every file that is tracked or could be."""
    names = _git_files(root) if (root / ".git").exists() else None
    if names is None:
        names = _walked_files(root)
    return sorted(name for name in names if (root / name).is_file())


def _git_files(root: pathlib.Path) -> list[str] | None:
    # A clone made by another user is only read here: git need not refuse it.
    command = ["git", "-c", "safe.directory=*", "-C", str(root)]
    command += ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None  # No git on this machine, or not a repository of its own.
    return [name for name in result.stdout.split("\0") if name]


def _walked_files(root: pathlib.Path) -> list[str]:
    names = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in (".git", "__pycache__") and not f.startswith("bazel-")]
        names += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return names
