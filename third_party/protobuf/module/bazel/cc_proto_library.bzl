"""Forwards to Bazel's native rule."""

cc_proto_library = native.cc_proto_library
