"""@cluster_packages//:packages.tar: Slurm, munge, Open MPI and MPICH as Debian has them, for tests
that run clusters on one machine. Nothing of it is installed."""

# With what they need and this machine lacks.
_PACKAGES = [
    "slurm-wlm",
    "munge",
    "openmpi-bin",
    "mpich",
]

def _cluster_packages_impl(ctx):
    ctx.report_progress("downloading " + " ".join(_PACKAGES))
    script = ctx.path(Label("//third_party/cluster_packages:download.sh"))

    # Tests are skipped without the packages: a machine without apt-get, or without a
    # network, must still build everything else.
    result = ctx.execute(["bash", script] + _PACKAGES, timeout = 600)
    if result.return_code:
        ctx.execute(["tar", "-cf", "packages.tar", "-T", "/dev/null"])
    ctx.file("reason.txt", result.stderr)
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    ctx.file("BUILD.bazel", "exports_files([\"packages.tar\", \"reason.txt\"], visibility = [\"//visibility:public\"])\n")

cluster_packages_repository = repository_rule(implementation = _cluster_packages_impl)
