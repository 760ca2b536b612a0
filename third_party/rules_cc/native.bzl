"""Bazel's own names under others, for files that define the same names."""

native_cc_common = cc_common  # buildifier: disable=native-cc-common
NativeCcInfo = CcInfo  # buildifier: disable=native-cc-info
