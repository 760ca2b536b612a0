"""Forwards to Bazel's native rule."""

sh_test = native.sh_test
