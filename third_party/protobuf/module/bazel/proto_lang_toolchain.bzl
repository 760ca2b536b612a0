"""Forwards to Bazel's native rule."""

proto_lang_toolchain = native.proto_lang_toolchain
