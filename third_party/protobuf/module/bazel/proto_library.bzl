"""Forwards to Bazel's native rule."""

proto_library = native.proto_library
