"""Repository rules over what Debian installs: libraries and Starlark rule sets."""

def missing_package_error(what, path, package):
    return ("{what}: {path} is not on this machine. Install Debian's package {package} " +
            "(apt-get install {package}), or run tools/bazel as root, which does it.").format(
        what = what,
        path = path,
        package = package,
    )

def _debian_library_impl(ctx):
    header = "/usr/include/" + ctx.attr.header
    if not ctx.path(header).exists:
        fail(missing_package_error(ctx.name, header, ctx.attr.package))
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    ctx.symlink(ctx.attr.build_file, "BUILD.bazel")

debian_library = repository_rule(
    implementation = _debian_library_impl,
    attrs = {
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "header": attr.string(mandatory = True, doc = "Path under /usr/include that proves the package is there."),
        "package": attr.string(mandatory = True, doc = "Debian package to name when it is not."),
    },
    configure = True,
    doc = "A library of Debian's. Its headers are on the compiler's own path; the BUILD file only links.",
    local = True,
)

def _debian_starlark_impl(ctx):
    root = ctx.path("/usr/share/bazel/" + ctx.attr.folder)
    if not root.exists:
        fail(missing_package_error(ctx.name, root, ctx.attr.package))
    for entry in root.readdir():
        ctx.symlink(entry, entry.basename)

debian_starlark = repository_rule(
    implementation = _debian_starlark_impl,
    attrs = {
        "folder": attr.string(mandatory = True, doc = "Folder under /usr/share/bazel."),
        "package": attr.string(mandatory = True),
    },
    configure = True,
    doc = "A Starlark rule set of Debian's, in place of the one Bazel would download.",
    local = True,
)

def _files_repository_impl(ctx):
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    for label, path in ctx.attr.files.items():
        ctx.symlink(label, path)

files_repository = repository_rule(
    implementation = _files_repository_impl,
    attrs = {"files": attr.label_keyed_string_dict(mandatory = True, allow_files = True)},
    doc = "A repository made of single files of this one: label -> path.",
    local = True,
)
