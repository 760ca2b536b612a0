"""@trainyard_clang: a toolchain over Debian's clang.

It takes the oldest clang from 19 on that is installed with its linker: the one that is nearest
to what Trainyard is tried with. TRAINYARD_CLANG=21 names another.
"""

_OLDEST = 19
_NEWEST = 99

def _installed(ctx, version):
    return all([
        ctx.path("/usr/bin/{}-{}".format(program, version)).exists
        for program in ["clang", "ld.lld"]
    ])

def _find_version(ctx):
    wanted = ctx.os.environ.get("TRAINYARD_CLANG")
    candidates = [wanted] if wanted else [str(version) for version in range(_OLDEST, _NEWEST)]
    for version in candidates:
        if _installed(ctx, version):
            return version
    package = wanted or str(_OLDEST)
    fail(("{}: clang {} is not on this machine. Install Debian's packages clang-{} and lld-{}, or run tools/bazel " +
          "as root, which does it; or build with --config=gcc.").format(
        ctx.name,
        wanted or "{} or newer".format(_OLDEST),
        package,
        package,
    ))

def _clang_repository_impl(ctx):
    version = _find_version(ctx)
    release = ctx.execute(["/usr/bin/clang-" + version, "--version"])
    if release.return_code:
        fail("{}: clang-{} --version fails:\n{}".format(ctx.name, version, release.stderr))
    words = {
        # Precompiled headers serve one release of the compiler only, so it is in all caches' keys.
        "%{release}": release.stdout.split("\n")[0],
        "%{version}": version,
    }
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    ctx.template("BUILD.bazel", Label("//third_party/clang:clang.BUILD"), words)
    ctx.template("clang.sh", Label("//third_party/clang:clang.sh.in"), words, executable = True)

clang_repository = repository_rule(
    implementation = _clang_repository_impl,
    configure = True,
    environ = ["TRAINYARD_CLANG"],
    local = True,
)
