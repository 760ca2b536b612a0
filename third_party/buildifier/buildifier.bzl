"""@buildifier//:buildifier from npm's @bazel/buildifier, which carries the binary."""

BUILDIFIER_VERSION = "8.2.1"

def _buildifier_repository_impl(ctx):
    npm = ctx.which("npm")
    if not npm:
        fail("buildifier: npm is not on this machine. Install Debian's package npm.")
    package = "@bazel/buildifier@" + BUILDIFIER_VERSION
    result = ctx.execute([npm, "pack", "--silent", package], timeout = 600)
    if result.return_code:
        fail("buildifier: npm could not download {}:\n{}".format(package, result.stderr))
    ctx.extract(result.stdout.strip().split("\n")[-1], stripPrefix = "package")
    ctx.file("BUILD.bazel", "exports_files(glob([\"buildifier-*\"]))\n")

buildifier_repository = repository_rule(implementation = _buildifier_repository_impl)
