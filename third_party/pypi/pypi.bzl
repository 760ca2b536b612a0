"""Unpacks parts of PyPI wheels inside a repository rule."""

# Wheels are chosen for this platform, whatever Python the machine has: nothing of
# Python is used. pip takes each platform tag literally, so every glibc up to
# Debian's is named.
_TARGET = [
    "--only-binary=:all:",
    "--implementation=cp",
    "--python-version=3.11",
    "--abi=cp311",
    "--abi=abi3",
    "--abi=none",
    "--platform=manylinux2014_x86_64",
] + ["--platform=manylinux_2_{}_x86_64".format(minor) for minor in range(17, 37)]

def pypi_unpack(ctx, requirements, folders):
    """Downloads wheels with pip and unpacks what matches `folders` into the repository.

    Args:
      ctx: the repository rule's context.
      requirements: pip requirement strings.
      folders: shell patterns of wheel members to keep.
    """
    python = ctx.which("python3")
    pip = ctx.which("pip3") or ctx.which("pip")
    if not python or not pip:
        fail("{}: python3 or pip is not on this machine. Install Debian's packages python3 and python3-pip.".format(ctx.name))
    ctx.report_progress("downloading " + " ".join(requirements))
    result = ctx.execute(
        [pip, "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", "wheels"] +
        _TARGET + requirements,
        timeout = 3600,
    )
    if result.return_code:
        fail("{}: pip could not download {}:\n{}".format(ctx.name, " ".join(requirements), result.stderr))
    result = ctx.execute([python, "-c", _UNPACK] + folders, timeout = 3600)
    if result.return_code:
        fail("{}: {}".format(ctx.name, result.stderr))
    ctx.delete("wheels")

_UNPACK = """
import fnmatch, glob, os, sys, zipfile
for wheel in glob.glob("wheels/*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if any(fnmatch.fnmatch(member.filename, pattern) for pattern in sys.argv[1:]):
                path = archive.extract(member)
                os.chmod(path, 0o755 if member.external_attr >> 16 & 0o100 else 0o644)
"""
