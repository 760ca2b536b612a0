"""Forwards to Bazel's native rule."""

sh_library = native.sh_library
