"""@gloo: headers of Debian's libgloo-dev."""

load("//third_party/debian:debian.bzl", "debian_library")

def gloo_repository():
    debian_library(
        name = "gloo",
        build_file = Label("//third_party/gloo:gloo.BUILD"),
        header = "gloo/config.h",
        package = "libgloo-dev",
    )
