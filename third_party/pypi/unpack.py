"""Unpacks members of wheels to other places.

    unpack.py FOLDER_OF_WHEELS BEGINNING REPLACEMENT [BEGINNING REPLACEMENT ...]
"""

import pathlib
import shutil
import sys
import zipfile


def main(wheels: str, *words: str) -> None:
    replacements = dict(zip(words[::2], words[1::2]))
    unused = set(replacements)
    for wheel in sorted(pathlib.Path(wheels).glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                for beginning, replacement in replacements.items():
                    if member.filename.startswith(beginning) and not member.is_dir():
                        unused.discard(beginning)
                        _unpack(archive, member, pathlib.Path(replacement + member.filename[len(beginning) :]))
    if unused:
        sys.exit(f"nothing in the wheels begins with {', '.join(sorted(unused))}")


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: pathlib.Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, path.open("wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    path.chmod(0o755 if member.external_attr >> 16 & 0o100 else 0o644)


if __name__ == "__main__":
    main(*sys.argv[1:])
