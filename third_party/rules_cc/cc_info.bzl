"""Forwards to Bazel's native provider."""

load("//cc/common:native.bzl", "NativeCcInfo")

CcInfo = NativeCcInfo
