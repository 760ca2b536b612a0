"""trainyard_package: headers and one shared library in a tarball, for builds without Bazel."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _is_ours(ctx, file):
    return file.owner.workspace_name == ctx.label.workspace_name

def _installed_path(file):
    # From another workspace the path begins with ../trainyard/.
    path = file.short_path
    return path.split("/", 2)[2] if path.startswith("../") else path

def _unique_from_the_end(flags):
    """Keeps the last of equal flags: a static library stands behind those that need it."""
    kept = {}
    for flag in reversed(flags):
        kept[flag] = None
    return reversed(kept.keys())

def _link(ctx, linking_context):
    """Links our archives as a whole, also what nothing calls, into libtrainyard.so."""
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    inputs = []
    for linked in linking_context.linker_inputs.to_list():
        libraries = []
        for library in linked.libraries:
            archive = library.pic_static_library or library.static_library
            if archive and _is_ours(ctx, archive):
                library = cc_common.create_library_to_link(
                    actions = ctx.actions,
                    feature_configuration = features,
                    cc_toolchain = toolchain,
                    pic_static_library = archive,
                    alwayslink = True,
                )
            libraries.append(library)
        inputs.append(cc_common.create_linker_input(
            owner = linked.owner,
            libraries = depset(libraries),
            user_link_flags = depset(linked.user_link_flags),
        ))
    outputs = cc_common.link(
        name = "trainyard",
        actions = ctx.actions,
        feature_configuration = features,
        cc_toolchain = toolchain,
        output_type = "dynamic_library",
        linking_contexts = [cc_common.create_linking_context(linker_inputs = depset(inputs))],
    )
    return outputs.library_to_link.resolved_symlink_dynamic_library or outputs.library_to_link.dynamic_library

def _trainyard_package_impl(ctx):
    info = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    headers = [
        file
        for file in info.compilation_context.headers.to_list()
        if _is_ours(ctx, file) and file.extension == "h"
    ]
    library = _link(ctx, info.linking_context)
    flags = []
    for linked in info.linking_context.linker_inputs.to_list():
        flags += linked.user_link_flags

    contents = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(contents, json.encode({
        "defines": info.compilation_context.defines.to_list(),
        "headers": {_installed_path(file): file.path for file in headers},
        "library": library.path,
        "link_flags": _unique_from_the_end(flags),
        "torch_version": ctx.file._torch_version.path,
    }))
    tarball = ctx.actions.declare_file(ctx.label.name + ".tar.gz")
    ctx.actions.run(
        executable = "/usr/bin/python3",
        arguments = ["-B", ctx.file._program.path, contents.path, tarball.path] + [file.path for file in ctx.files._templates],
        inputs = headers + [library, contents, ctx.file._program, ctx.file._torch_version] + ctx.files._templates,
        outputs = [tarball],
        mnemonic = "TrainyardPackage",
        progress_message = "Packing " + tarball.short_path,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([tarball]), runfiles = ctx.runfiles([tarball]))]

trainyard_package = rule(
    implementation = _trainyard_package_impl,
    attrs = {
        "deps": attr.label_list(mandatory = True, providers = [CcInfo], doc = "The libraries of the package."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_program": attr.label(default = "//tools/package:make_package.py", allow_single_file = True),
        "_templates": attr.label_list(
            default = ["//tools/package:TrainyardConfig.cmake", "//tools/package:trainyard.pc"],
            allow_files = True,
        ),
        "_torch_version": attr.label(default = "@libtorch//:version", allow_single_file = True),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    doc = "NAME.tar.gz with trainyard/include, lib/libtrainyard.so, and what CMake and pkg-config read.",
)
