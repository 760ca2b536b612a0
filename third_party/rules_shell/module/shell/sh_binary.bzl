"""Forwards to Bazel's native rule."""

sh_binary = native.sh_binary
