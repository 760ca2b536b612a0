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
    """Downloads wheels with pip and unpacks parts of them into the repository.

    Args:
      ctx: the repository rule's context.
      requirements: pip requirement strings, each with its version.
      folders: how a member's path in a wheel begins -> what to put in place of that
        beginning; all other members are left out. Each must match something.
    """
    python = ctx.which("python3")
    pip = ctx.which("pip3") or ctx.which("pip")
    if not python or not pip:
        fail("{}: python3 or pip is not on this machine. Install Debian's packages python3 and python3-pip.".format(ctx.name))
    what = " ".join(requirements)
    ctx.report_progress("downloading " + what)
    result = ctx.execute(
        [pip, "download", "--disable-pip-version-check", "--no-deps", "--dest", "wheels"] +
        _TARGET + requirements,
        # Shows what pip says: names and sizes of what it downloads.
        quiet = False,
        timeout = 3600,
    )
    if result.return_code:
        fail("{}: pip could not download {}:\n{}".format(ctx.name, what, result.stderr))
    ctx.report_progress("unpacking " + what)
    pairs = [word for pair in folders.items() for word in pair]
    result = ctx.execute([python, ctx.path(Label("//third_party/pypi:unpack.py")), "wheels"] + pairs, timeout = 3600)
    if result.return_code:
        fail("{}: {}".format(ctx.name, result.stderr))
    ctx.delete("wheels")
