"""Forwards to Bazel's native module."""

load("//cc/common:native.bzl", "native_cc_common")

cc_common = native_cc_common
