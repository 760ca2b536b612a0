"""Medians and ratios of measured rounds, as Markdown, JSON and SVG; nothing here measures.

A result is {"round", "row", "framework", "p50_ms", "mean_ms", "startup_s", "peak_mb", …}. A ratio is the median of the
ratios of single rounds: other load on the machine slows down both sides of it.
"""

import json
import math
import statistics
from xml.sax.saxutils import escape

BASELINE = "trainyard"
# Columns of a table: (title, field). Each has a second column, of ratios.
_COLUMNS = (("time of a step, ms", "p50_ms"), ("start-up to the first step, s", "startup_s"), ("peak memory, MB", "peak_mb"))


def parse_result(output: str) -> dict:
    """The result line in the output of a program. Throws ValueError if there is none or it is incomplete."""
    lines = [line for line in output.splitlines() if line.startswith("@@")]
    if not lines:
        raise ValueError("it printed no result")
    try:
        result = json.loads(lines[-1][2:])
    except json.JSONDecodeError as error:
        raise ValueError(f"its result is no JSON: {error}") from None
    for field in ("p50_ms", "mean_ms", "startup_s", "final_loss"):
        if not isinstance(result.get(field), (int, float)) or not math.isfinite(result[field]):
            raise ValueError(f"{field} of its result is {result.get(field)}, which is not a finite number")
    return result


def reason(output: str) -> str:
    """The line of a failed program's output that says most: its last error, otherwise its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line.split(":")[0]]
    return (errors or lines or ["it printed nothing"])[-1][:200]


class Figures:
    def __init__(self, results: list[dict], names: dict[str, str]):
        """`names`: how a framework is called in the tables, in the order of their lines."""
        self._names = names
        self._by_key: dict[tuple[str, str], dict[int, dict]] = {}
        for result in results:
            self._by_key.setdefault((result["row"], result["framework"]), {})[result["round"]] = result
        self.rows = list(dict.fromkeys(result["row"] for result in results))

    def median(self, row: str, framework: str, field: str) -> float | None:
        rounds = self._by_key.get((row, framework))
        return statistics.median(result[field] for result in rounds.values()) if rounds else None

    def ratio(self, row: str, framework: str, field: str) -> float | None:
        """The baseline's value by the framework's: below 1 means that the baseline needs less."""
        ours, theirs = self._by_key.get((row, BASELINE), {}), self._by_key.get((row, framework), {})
        both = ours.keys() & theirs.keys()
        return statistics.median(ours[i][field] / theirs[i][field] for i in both) if both else None

    def frameworks(self, row: str) -> list[str]:
        """Those that have a result, the fastest one first."""
        present = [name for name in self._names if (row, name) in self._by_key]
        return sorted(present, key=lambda name: self.median(row, name, "p50_ms"))

    def markdown(self, titles: dict[str, str], missing: dict[str, dict[str, str]]) -> str:
        """One table per row. `titles`: of the rows. `missing`: row -> framework -> why it has no result."""
        parts = []
        for row in dict.fromkeys([*self.rows, *missing]):
            lines = [f"## {titles[row]}"]
            if row in self.rows:
                lines += ["", *self._table(row)]
            notes = [f"- {self._names[name]} has no result: {why}" for name, why in sorted(missing.get(row, {}).items())]
            parts.append("\n".join(lines + [""] * bool(notes) + notes))
        return "\n\n".join(parts) + "\n"

    def _table(self, row: str) -> list[str]:
        head = ["framework"]
        for title, _ in _COLUMNS:
            head += [title, "Trainyard's ratio"]
        head.append("final loss")
        lines = ["| " + " | ".join(head) + " |", "|" + " --- |" + " ---: |" * (len(head) - 1)]
        for name in self.frameworks(row):
            cells = [self._names[name]]
            for _, field in _COLUMNS:
                cells += [_number(self.median(row, name, field)), _number(self.ratio(row, name, field), digits=2)]
            cells.append(_number(self.median(row, name, "final_loss"), digits=3))
            lines.append("| " + " | ".join(cells) + " |")
        return lines

    def summary(self) -> dict:
        """Medians and ratios of every row and framework, for the JSON file."""
        fields = ("p50_ms", "mean_ms", "startup_s", "peak_mb", "final_loss")
        return {
            row: {
                name: {
                    "rounds": len(self._by_key[row, name]),
                    "median": {field: self.median(row, name, field) for field in fields},
                    "trainyard_ratio": {field: self.ratio(row, name, field) for field in fields[:-1]},
                }
                for name in self.frameworks(row)
            }
            for row in self.rows
        }

    def chart(self, titles: dict[str, str]) -> str:
        """An SVG of the median time of a step: one group of bars per row, each scaled to its slowest framework."""
        width, label, bar, gap = 860, 250, 18, 6
        space = width - label - 160
        y, body = 10, []
        for row in self.rows:
            y += 24
            body.append(_text(10, y, f"{titles[row]}: ms per step", weight="bold"))
            y += 10
            slowest = max(self.median(row, name, "p50_ms") for name in self.frameworks(row))
            for name in self.frameworks(row):
                value = self.median(row, name, "p50_ms")
                length = max(1.0, space * value / slowest)
                color = "#1b7f4d" if name == BASELINE else "#9aa7b5"
                body.append(_text(label - 8, y + bar - 5, self._names[name], anchor="end"))
                body.append(f'<rect x="{label}" y="{y}" width="{length:.1f}" height="{bar}" fill="{color}"/>')
                ratio = self.ratio(row, name, "p50_ms")
                times = "" if ratio is None or name == BASELINE else f"  (Trainyard: {ratio:.2f} of it)"
                body.append(_text(label + length + 6, y + bar - 5, _number(value) + times))
                y += bar + gap
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y + 10}" '
            f'viewBox="0 0 {width} {y + 10}" font-family="sans-serif" font-size="12">',
            f'<rect width="{width}" height="{y + 10}" fill="white"/>', *body, "</svg>", ""])


def _text(x: float, y: float, text: str, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" font-weight="{weight}">{escape(text)}</text>'


def _number(value: float | None, digits: int | None = None) -> str:
    """Three significant digits, or a number of decimal places."""
    if value is None:
        return ""
    if digits is not None:
        return f"{value:.{digits}f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if value > 0 else "0"
