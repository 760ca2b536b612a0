#!/usr/bin/env python3
"""Writes the API reference, made from the comments of the public headers, as a tree of HTML pages.

    tools/bazel run //tools/api_reference -- OUT

OUT/index.html is the first page. The pages have a search field and links to the source. Needs Debian's doxygen. Ends with
1 after any warning: comments that name what does not exist, or that cannot be understood.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SELF = pathlib.Path(__file__).resolve()
ROOT = SELF.parents[2]
FOLDERS = ["backends", "callbacks", "finetuning", "schedulers", "tracking", "trainer"]

SETTINGS = {
    "PROJECT_NAME": "Trainyard",
    "PROJECT_BRIEF": '"Trains models in C++ on libtorch"',
    "RECURSIVE": "YES",
    "FILE_PATTERNS": "*.h",
    "EXCLUDE_PATTERNS": "*/testing/* */fuzz/* */testdata/*",
    "EXTENSION_MAPPING": "h=C++",
    "STRIP_FROM_PATH": str(ROOT),
    "STRIP_FROM_INC_PATH": str(ROOT),
    "INPUT_FILTER": f'"{SELF.parent / "comments.py"}"',
    "FILTER_SOURCE_FILES": "NO",
    "EXTRACT_ALL": "YES",
    "HIDE_UNDOC_RELATIONS": "YES",
    "JAVADOC_AUTOBRIEF": "YES",
    "AUTOLINK_SUPPORT": "YES",
    "MARKDOWN_SUPPORT": "NO",
    "BUILTIN_STL_SUPPORT": "YES",
    "SORT_MEMBER_DOCS": "NO",
    "SOURCE_BROWSER": "YES",
    "VERBATIM_HEADERS": "YES",
    "GENERATE_LATEX": "NO",
    "GENERATE_TREEVIEW": "YES",
    "DISABLE_INDEX": "NO",
    "SEARCHENGINE": "YES",
    "SERVER_BASED_SEARCH": "NO",
    "HAVE_DOT": "NO",
    "CLASS_GRAPH": "NO",
    "MACRO_EXPANSION": "NO",
    "ENABLE_PREPROCESSING": "YES",
    "SEARCH_INCLUDES": "NO",
    "HTML_TIMESTAMP": "NO",
    "QUIET": "YES",
    "WARNINGS": "YES",
    "WARN_IF_UNDOCUMENTED": "NO",
    "WARN_IF_DOC_ERROR": "YES",
}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.exit(__doc__.strip())
    if shutil.which("doxygen") is None:
        sys.exit("api_reference: there is no doxygen; install the Debian package doxygen")
    out = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), arguments[0]).absolute()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        front = pathlib.Path(work) / "front.h"
        front.write_text((SELF.parent / "front_page.txt").read_text())
        settings = dict(
            SETTINGS, OUTPUT_DIRECTORY=str(work), WARN_LOGFILE=f"{work}/warnings.txt",
            INPUT=" ".join([str(front), *(str(ROOT / folder) for folder in FOLDERS)]))
        text = "".join(f"{name} = {value}\n" for name, value in settings.items())
        subprocess.run(["doxygen", "-"], input=text, text=True, check=True)
        warnings = pathlib.Path(work, "warnings.txt").read_text().splitlines()
        shutil.copytree(pathlib.Path(work, "html"), out, dirs_exist_ok=True)
    for warning in warnings:
        print(warning, file=sys.stderr)
    pages = sum(1 for _ in out.glob("*.html"))
    print(f"wrote {out}/index.html: {pages} pages, {len(warnings)} warnings")
    return 1 if warnings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
