#!/usr/bin/env -S python3 -B
"""Compares training, loaders and checkpoints of Trainyard with other frameworks: time, start-up and memory.

    tools/bazel run //tools/bench:peers -- --rounds=5 --rows=tiny,mlp --only=trainyard,torch_fused,lightning

Makes Python environments from the pinned packages in tools/bench/peers/requirements under ~/.cache/trainyard/peers. In each
round every framework runs once per row, in its own process and in random order. Writes peers.md, peers.json and
peers.svg to the folder --output after each row. With --resume, runs that are in peers.json are not repeated: a long
comparison can be made in parts.
"""

import argparse
import os
import pathlib
import signal
import sys

import comparison
import environment
import frameworks


def _chosen(parser, flag, text, known):
    names = [name for name in text.split(",") if name]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        parser.error(f"{flag}={text}: must be a list of {', '.join(known)}")
    return names


def _positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be at least 1")
    return value


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/bazel run //tools/bench:peers --", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    keys = [framework.key for framework in frameworks.FRAMEWORKS]
    parser.add_argument("--rounds", type=_positive, default=3, help="rounds of all programs (default: %(default)s)")
    parser.add_argument("--rows", default=",".join(frameworks.ROWS), help="(default: %(default)s)")
    parser.add_argument("--only", default=",".join(keys), help="frameworks to run (default: %(default)s)")
    parser.add_argument("--threads", default="1,2", help="of rows that train in one process (default: %(default)s)")
    parser.add_argument("--ranks", type=_positive, default=2, help="of data-parallel rows (default: %(default)s)")
    parser.add_argument("--steps", type=_positive, help="per run, to try it out (default: as many as the row needs)")
    parser.add_argument("--mebibytes", type=_positive, default=512, help="of a checkpoint (default: %(default)s)")
    parser.add_argument("--output", default="peers-results", help="folder to write (default: %(default)s)")
    parser.add_argument("--resume", action="store_true", help="keep the results of --output, and run what is missing")
    parser.add_argument("--minutes", type=float, help="begin no further run after this time")
    parser.add_argument("--environment", type=pathlib.Path, default=environment.default_root(),
                        help="folder of the Python packages (default: %(default)s)")
    parser.add_argument("--older_python", default="", help="a Python older than 3.11, for PyMarlin (default: python3.10, also pyenv's)")
    for program in ("trainyard", "cpp", "loader", "checkpoint"):
        parser.add_argument(f"--{program}", required=True, help=argparse.SUPPRESS)  # given by the Bazel target
    flags = parser.parse_args(arguments)
    flags.rows = _chosen(parser, "--rows", flags.rows, list(frameworks.ROWS))
    only = _chosen(parser, "--only", flags.only, keys)
    flags.only = [framework for framework in frameworks.FRAMEWORKS if framework.key in only]
    flags.threads = [int(count) for count in _chosen(parser, "--threads", flags.threads, [str(i) for i in range(1, 65)])]
    if flags.ranks < 2:
        parser.error(f"--ranks={flags.ranks}: must be at least 2")
    if flags.steps is not None and flags.steps < 10:
        parser.error(f"--steps={flags.steps}: must be at least 10, of which 5 are warm-up")
    # Bazel runs this in its own folder.
    flags.output = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / flags.output
    return flags


def _interrupt(*_):
    raise KeyboardInterrupt  # ends the programs that run


def main():
    flags = parse_arguments(sys.argv[1:])
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        compared = comparison.Comparison(flags)
    except ValueError as error:
        raise SystemExit(f"peers: {error}") from None
    try:
        compared.prepare()
        compared.run()
    except KeyboardInterrupt:
        print("interrupted; the figures so far are kept", file=sys.stderr)
    print(compared.write())
    print(f"Written: {flags.output}/peers.md, peers.json and peers.svg", file=sys.stderr)
    if compared.failed():
        raise SystemExit(f"peers: no result of {', '.join(compared.failed())}: see peers.md")


if __name__ == "__main__":
    main()
