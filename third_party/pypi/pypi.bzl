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

# Unpacked wheels, kept for the other workspaces of this user. Each has hard links to them:
# it needs no time and no space, and survives when this folder is removed.
_KEPT = ".cache/trainyard/wheels"

def _run(ctx, what, command, **kwargs):
    result = ctx.execute(command, timeout = 3600, **kwargs)
    if result.return_code:
        fail("{}: could not {}:\n{}".format(ctx.name, what, result.stderr))

def pypi_unpack(ctx, requirements, folders):
    """Downloads wheels with pip and unpacks parts of them into the repository.

    Args:
      ctx: the repository rule's context.
      requirements: pip requirement strings, each with its version.
      folders: how a member's path in a wheel begins -> what to put in place of that
        beginning; all other members are left out. Each must match something.
    """
    what = " ".join(requirements)
    home = ctx.os.environ.get("HOME")
    kept = "{}/{}/{}-{}".format(home, _KEPT, requirements[0].replace("=", "-"), hash(repr([requirements, folders])))
    if home and ctx.path(kept).exists:
        ctx.report_progress("linking " + what)
        if not ctx.execute(["cp", "-al", kept + "/.", "."]).return_code:
            return
    python = ctx.which("python3")
    pip = ctx.which("pip3") or ctx.which("pip")
    if not python or not pip:
        fail("{}: python3 or pip is not on this machine. Install Debian's packages python3 and python3-pip.".format(ctx.name))
    ctx.report_progress("downloading " + what)

    # Shows what pip says: names and sizes of what it downloads.
    _run(
        ctx,
        "download {} with pip".format(what),
        [pip, "download", "--disable-pip-version-check", "--no-deps", "--dest", "wheels"] + _TARGET + requirements,
        quiet = False,
    )
    ctx.report_progress("unpacking " + what)
    ctx.file("unpacked/.keep")
    script = ctx.path(Label("//third_party/pypi:unpack.py"))
    pairs = [word for pair in folders.items() for word in pair]
    _run(ctx, "unpack " + what, [python, script, "../wheels"] + pairs, working_directory = "unpacked")
    _run(ctx, "link " + what, ["cp", "-al", "unpacked/.", "."])
    if home:
        # Complete under its name or not there. Another workspace may be first; a cache
        # that cannot be written is none.
        ctx.execute([
            "sh",
            "-c",
            'mkdir -p "${1%/*}" && cp -al unpacked "$1.$$" && { mv -T "$1.$$" "$1" || rm -rf "$1.$$"; }',
            "sh",
            kept,
        ])
    ctx.delete("wheels")
    ctx.delete("unpacked")
