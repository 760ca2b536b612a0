"""A terminal that records what a program prints, and draws its screen as SVG."""

import fcntl
import html
import os
import re
import struct
import subprocess
import sys
import termios

# The only control sequence of our programs: erase to the end of the line.
_ERASE = "\x1b[K"
_PIECE = re.compile(r"\x1b\[K|\r|\n|[^\x1b\r\n]+")
_COLORS = {"$": "#7ee787", "Epoch ": "#79c0ff"}
_KEPT_SPACE = "\u00a0"
_CHAR_WIDTH, _LINE_HEIGHT, _MARGIN, _BAR = 8.4, 19, 16, 30


class Screen:
    """Lines of text, as a terminal without a height would show them."""

    def __init__(self):
        self.lines = [""]
        self._column = 0

    def write(self, text: str) -> None:
        for piece in _PIECE.findall(text):
            line = self.lines[-1]
            if piece == "\n":
                self.lines.append("")
                self._column = 0
            elif piece == "\r":
                self._column = 0
            elif piece == _ERASE:
                self.lines[-1] = line[: self._column]
            else:
                line = line.ljust(self._column)
                self.lines[-1] = line[: self._column] + piece + line[self._column + len(piece) :]
                self._column += len(piece)


def run(command: list[str], columns: int) -> list[str]:
    """Runs a program on a terminal of its own. Returns what it printed, piece by piece. Throws RuntimeError if it fails."""
    terminal, inside = os.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    program = subprocess.Popen(command, stdin=inside, stdout=inside, stderr=inside, start_new_session=True)
    os.close(inside)
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:  # the program has closed its side
            break
        if not piece:
            break
        pieces.append(piece.decode(errors="replace"))
        sys.stderr.write(pieces[-1])
    os.close(terminal)
    if program.wait() != 0:
        raise RuntimeError(f"{command[0]}: exit code {program.returncode}")
    return pieces


def svg(lines: list[str], title: str, columns: int) -> str:
    """Lines that begin with $ (commands) and Epoch (a progress bar) have a colour of their own."""
    width = columns * _CHAR_WIDTH + 2 * _MARGIN
    height = _BAR + len(lines) * _LINE_HEIGHT + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" role="img">',
        f"<title>{html.escape(title)}</title>",
        f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#1b1f27"/>',
    ]
    for i, color in enumerate(("#ec6a5e", "#f4bf4f", "#61c554")):
        parts.append(f'<circle cx="{20 + 20 * i}" cy="18" r="6" fill="{color}"/>')
    parts.append(f'<text x="{width / 2:.0f}" y="23" fill="#8b93a1" font-family="sans-serif" font-size="13" text-anchor="middle">{html.escape(title)}</text>')
    parts.append('<g font-family="ui-monospace,DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14" fill="#c9d1d9">')
    for number, line in enumerate(lines):
        y = _BAR + _MARGIN + (number + 0.7) * _LINE_HEIGHT
        if not line.strip():
            continue
        # Told how wide it is, text of any font keeps its columns; spaces that do not break are kept.
        color = next((f' fill="{color}"' for start, color in _COLORS.items() if line.startswith(start)), "")
        length = len(line) * _CHAR_WIDTH
        parts.append(f'<text x="{_MARGIN}" y="{y:.1f}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs"{color}>{html.escape(line).replace(" ", _KEPT_SPACE)}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])
