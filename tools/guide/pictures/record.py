#!/usr/bin/env -S python3 -B
"""Makes the pictures of README.md from a real run: terminal.svg and report.png, beside this file.

    tools/bazel run //tools/guide/pictures:record              # several minutes; needs Debian's chromium and the data

Trains //tools/examples:fashion_mnist on a terminal of its own, draws what it shows within the last epoch and at the end,
writes the report of the run and photographs it.
"""

import argparse
import base64
import pathlib
import subprocess
import sys
import tempfile

import terminal

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "report/testing"))
from chromium import Chromium  # noqa: E402

COLUMNS = 96
COMMAND = "tools/bazel run //tools/examples:fashion_mnist -- --run_dir=/tmp/run"


def draw_terminal(pieces: list[str], epochs: int) -> str:
    """The screen in the middle of the last epoch, with its progress bar, and the end below it."""
    screen, middle = terminal.Screen(), []
    for piece in pieces:
        screen.write(piece)
        if screen.lines[-1].startswith(f"Epoch {epochs}/{epochs} ") and "%" in screen.lines[-1]:
            middle.append([line.rstrip() for line in screen.lines])
    shown = middle[2 * len(middle) // 3] if middle else []
    end = [line.rstrip() for line in screen.lines]
    while end and not end[-1]:
        end.pop()
    rest = end[len(shown) - 1 :] if shown else end
    return terminal.svg([f"$ {COMMAND}", *shown, *rest], "a run on Fashion-MNIST, recorded", COLUMNS)


def photograph(report: str, picture: pathlib.Path) -> None:
    """The curves, and where the time went: what stands before the configuration."""
    with Chromium() as browser:
        page = browser.open(f"file://{report}", width=1000, height=760)
        tops = page.evaluate("Object.fromEntries([...document.querySelectorAll('h2')].map(h => [h.innerText, h.getBoundingClientRect().top]))")
        top, bottom = tops["Curves"] - 16, tops["Configuration"] - 12
        clip = {"x": 0, "y": top, "width": 1000, "height": bottom - top, "scale": 1}
        data = page.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
    picture.write_bytes(base64.b64decode(data))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)  # both given by the Bazel target
    parser.add_argument("--report", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--epochs", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--output", type=pathlib.Path, default=HERE, help="folder to write (default: %(default)s)")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = f"{folder}/fashion_mnist"
        pieces = terminal.run([flags.program, f"--run_dir={run}", f"--epochs={flags.epochs}"], COLUMNS)
        (flags.output / "terminal.svg").write_text(draw_terminal(pieces, flags.epochs))
        subprocess.run([flags.report, run, f"--out={folder}/report.html"], check=True, stdout=subprocess.DEVNULL)
        photograph(f"{folder}/report.html", flags.output / "report.png")
    print(f"wrote {flags.output}/terminal.svg and report.png")


if __name__ == "__main__":
    main()
