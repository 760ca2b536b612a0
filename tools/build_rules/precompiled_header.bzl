"""Precompiled headers as ordinary actions: cached, shared between clones, rebuilt when
a header that went into them changes."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

# A precompiled header only serves files that are compiled with its own options. Warnings
# are the exception, in one direction: what a file makes an error must be one here too.
_FLAGS = [
    "-Werror",
    # Templates are instantiated here, once, and not in every file.
    "-fpch-instantiate-templates",
    # Files are compared by size and name: times differ between clones.
    "-Xclang",
    "-fno-pch-timestamp",
    # The file is a header, whatever it is called.
    "-xc++-header",
]

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    deps = ctx.attr.deps + ([ctx.attr.base] if ctx.attr.base else [])
    context = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in deps]).compilation_context
    output = ctx.actions.declare_file(ctx.label.name + ".pch")
    base = ["-include-pch", ctx.file.base.path] if ctx.file.base else []
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = ctx.file.header.path,
        output_file = output.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts + _FLAGS + base,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
        use_pic = True,
    )
    action = "c++-compile"
    arguments = ctx.actions.args()
    arguments.add_all(cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = action,
        variables = variables,
    ))
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = action),
        arguments = [arguments],
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        inputs = depset(
            [ctx.file.header],
            transitive = [context.headers, toolchain.all_files],
        ),
        outputs = [output],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling " + ctx.file.header.short_path,
    )
    own = cc_common.create_compilation_context(headers = depset([output, ctx.file.header]))
    return [
        DefaultInfo(files = depset([output])),
        cc_common.merge_cc_infos(
            direct_cc_infos = [CcInfo(compilation_context = own)],
            cc_infos = [CcInfo(compilation_context = context)],
        ),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "base": attr.label(
            allow_single_file = [".pch"],
            doc = "A precompiled header of a part, made with the same options: it is loaded, not made again.",
            providers = [CcInfo],
        ),
        "copts": attr.string_list(),
        "deps": attr.label_list(providers = [CcInfo]),
        "header": attr.label(mandatory = True, allow_single_file = [".h"]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    doc = "Makes <name>.pch of a header, for `-include-pch`. A target that depends on it has it as an input.",
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
