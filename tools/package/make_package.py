#!/usr/bin/env python3
"""Writes the tarball of a trainyard_package.

    make_package.py CONTENTS.json TARBALL TEMPLATE...

A template is installed where its kind belongs, with @NAME@ replaced. The bytes depend on the inputs only: no time, user or order of files is in them.
"""

import gzip
import io
import json
import pathlib
import sys
import tarfile

FOLDERS = {".cmake": "lib/cmake/Trainyard", ".pc": "lib/pkgconfig"}


def values(contents: dict) -> dict[str, str]:
    flags = contents["link_flags"]
    return {
        "TORCH_VERSION": pathlib.Path(contents["torch_version"]).read_text().strip(),
        # Libraries only: the template says what --as-needed applies to.
        "LINK_FLAGS": " ".join(flag for flag in flags if flag.startswith("-l")),
        "CMAKE_LINK_FLAGS": ";".join(flags),
        "DEFINE_FLAGS": " ".join(f"-D{define}" for define in contents["defines"]),
        "CMAKE_DEFINES": ";".join(contents["defines"]),
    }


def main(contents_path: str, tarball: str, *templates: str) -> None:
    contents = json.loads(pathlib.Path(contents_path).read_text())
    files = {f"include/{path}": pathlib.Path(source).read_bytes() for path, source in contents["headers"].items()}
    files["lib/libtrainyard.so"] = pathlib.Path(contents["library"]).read_bytes()
    for template in map(pathlib.Path, templates):
        text = template.read_text()
        for name, value in values(contents).items():
            text = text.replace(f"@{name}@", value)
        files[f"{FOLDERS[template.suffix]}/{template.name}"] = text.encode()

    with open(tarball, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", filename="", compresslevel=1, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for path in sorted(files):
                member = tarfile.TarInfo(f"trainyard/{path}")
                member.size, member.mode = len(files[path]), 0o644
                tar.addfile(member, io.BytesIO(files[path]))


if __name__ == "__main__":
    main(*sys.argv[1:])
