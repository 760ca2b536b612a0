"""A copy of the source tree in which mutants are made: the user's own is only read."""

import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lint"))

import source_tree  # noqa: E402


class ScratchTree:
    """Kept from run to run, so that only what changed is built."""

    def __init__(self, source: pathlib.Path, folder: pathlib.Path):
        self.source = source
        self.folder = folder
        if folder.resolve() == source.resolve() or source.resolve() in folder.resolve().parents:
            raise ValueError(f"{folder} is in the source tree: choose another --scratch")

    def sync(self) -> None:
        """Makes it equal to the source tree, including what is not committed."""
        names = set(source_tree.list_files(self.source))
        for name in names:
            self._copy(name)
        for name in self._copied():
            if name not in names:
                (self.folder / name).unlink()
        (self._record()).write_text("\n".join(sorted(names)))

    def write(self, name: str, text: str) -> None:
        """Changes a file until the next restore()."""
        (self.folder / name).write_text(text)

    def restore(self, name: str) -> None:
        self._copy(name)

    def _record(self) -> pathlib.Path:
        return self.folder / ".mutants"

    def _copied(self) -> list[str]:
        # Only what an earlier sync() put there is ever removed.
        if not self._record().exists():
            return []
        return [name for name in self._record().read_text().split("\n") if (self.folder / name).is_file()]

    def _copy(self, name: str) -> None:
        source, copy = self.source / name, self.folder / name
        if copy.exists() and copy.read_bytes() == source.read_bytes():
            return
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)
