"""Fails on a path or a label that does not exist: in documents, and in comments and strings of
source files.

A path begins with a folder of the tree's root and ends in the name of a source file. In a
document, links are paths too (with the heading that they name), and so is everything in backticks that begins with such a
folder or ends in the name of a source file; these may be relative to the document. A label
begins with // and such a folder; Bazel checks those of BUILD files. The table of folders in
README.md has every package up to two folders deep. Names with
placeholders (`<name>`, `*`, `{a,b}`) are not checked.
"""

import pathlib
import re

_SOURCES = (".bazel", ".bzl", ".cc", ".h", ".js", ".proto", ".py", ".sh")
_LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)|\b(?:src|href)=\"([^\"#]*)(#[^\"]*)?\"")
_HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)
_END = r"(?![\w./*{<-])"
_WITH_LABELS = (".cc", ".h", ".md", ".sh")
_CODEMAP = "## Where things are"
# Macros of tools/build_rules make these targets besides the one that they name.
_MADE = re.compile(r"(?:_(?:cpu|cuda)_\d+)?_test$|_smoke_test$|_ranks$|_code$")


def _folders(names: list[str]) -> str:
    roots = {name.partition("/")[0] for name in names if "/" in name and not name.startswith(".")}
    return "|".join(sorted(map(re.escape, roots)))


def label_exists(root: pathlib.Path, names: set[str], package: str, target: str) -> bool:
    """Whether the BUILD file of a package makes a target, itself or by a macro."""
    build = f"{package}/BUILD.bazel".lstrip("/")
    if build not in names:
        return False
    if target in ("all", "...") or f"{package}/{target}" in names:
        return True
    text = (root / build).read_text()
    # A name may be an item of a list from which targets are made.
    return f'"{target}"' in text or (bool(_MADE.search(target)) and f'"{_MADE.sub("", target)}' in text)


def anchors(page: str) -> set[str]:
    """What links into a document can name: its headings, as web pages of repositories spell them."""
    headings = (re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(page))
    return {f"#{heading}" for heading in headings}


def _check_link(folder: pathlib.Path, name: str, link: str, anchor: str) -> str:
    """Returns what is wrong with a link of a document, or nothing."""
    target = folder / link if link else folder / pathlib.Path(name).name
    if not target.exists():
        return f"the link {link} leads nowhere"
    if anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
        return f"the link {link}{anchor} names no heading"
    return ""


def _check_codemap(root: pathlib.Path, names: list[str]) -> list[str]:
    """Every package up to two folders deep is in the table of folders in README.md."""
    page = (root / "README.md").read_text() if "README.md" in names else ""
    if _CODEMAP not in page:
        return []
    packages = {name.removesuffix("BUILD.bazel") for name in names if name.endswith("/BUILD.bazel")}
    shown = [package for package in packages if package.count("/") <= 2 and not package.startswith("third_party/")]
    return [f"README.md: the table of folders lacks {package}" for package in sorted(shown) if not package.endswith("/testing/") and f"`{package}`" not in page and package != "tools/"]


def check(root: pathlib.Path, names: list[str]) -> list[str]:
    folders = _folders(names)
    if not folders:
        return []
    path = re.compile(rf"(?<![\w./@>}}-])(?:\.\./)*((?:{folders})/[\w./-]*\.(?:bazel|bzl|cc|h|js|md|proto|py|sh)){_END}")
    label = re.compile(rf"(?<![\w:/@])//((?:{folders})(?:/[\w-]+)*)(?::([\w.-]*\w))?{_END}")
    quoted = re.compile(rf"`((?:{folders})/[\w./-]*|[\w./-]+\.(?:bzl|cc|h|js|proto|py|sh))`")
    known = set(names)
    errors = _check_codemap(root, names)
    for name in names:
        is_document = name.endswith(".md")
        # Tests of checks write trees of their own.
        if not (is_document or name.endswith(_SOURCES)) or "selftest" in name:
            continue
        folder = (root / name).parent
        has_labels = name.endswith(_WITH_LABELS) and not name.endswith("_test.cc")
        for number, line in enumerate((root / name).read_text().splitlines(), start=1):
            where = f"{name}:{number}"
            for found in path.findall(line):
                if found not in known and not found.endswith(".pb.h"):
                    errors.append(f"{where}: there is no {found}")
            for package, target in label.findall(line) if has_labels else []:
                if not label_exists(root, known, package, target or package.rpartition("/")[2]):
                    errors.append(f"{where}: there is no target //{package}{':' + target if target else ''}")
            if not is_document:
                continue
            for found in quoted.findall(line):
                first, slash, _ = found.partition("/")
                if slash and not (root / first).is_dir() and not (folder / first).is_dir():
                    continue  # of a library, e.g. ATen/core/Tensor.h
                if not (root / found).exists() and not (folder / found).exists():
                    errors.append(f"{where}: there is no {found}")
            for parts in _LINK.findall(line):
                link, anchor = parts[0] or parts[2], parts[1] or parts[3]
                error = "" if "://" in link or not link + anchor else _check_link(folder, name, link, anchor)
                if error:
                    errors.append(f"{where}: {error}")
    return errors
