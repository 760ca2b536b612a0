"""Medians and ratios of measured rounds, as Markdown, JSON and SVG; nothing here measures.

A result is {"round", "row", "framework", "peak_mb", …} with the fields of its kind of row. Less is better in all that has a
ratio. A ratio is the median of the ratios of single rounds: other load on the machine slows down both sides of it.
"""

import json
import math
import statistics
from xml.sax.saxutils import escape

BASELINE = "trainyard"


def parse_result(output: str, fields: list[str]) -> dict:
    """The result line in the output of a program. Throws ValueError if there is none or it has not all fields."""
    lines = [line for line in output.splitlines() if line.startswith("@@")]
    if not lines:
        raise ValueError("it printed no result")
    try:
        result = json.loads(lines[-1][2:])
    except json.JSONDecodeError as error:
        raise ValueError(f"its result is no JSON: {error}") from None
    for field in fields:
        if not isinstance(result.get(field), (int, float)) or not math.isfinite(result[field]):
            raise ValueError(f"{field} of its result is {result.get(field)}, which is not a finite number")
    return result


def reason(output: str) -> str:
    """The line of a failed program's output that says most: its last error, otherwise its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line.split(":")[0]]
    return (errors or lines or ["it printed nothing"])[-1][:200]


class Figures:
    def __init__(self, results: list[dict], names: dict[str, str], kinds: dict):
        """`names`: how a framework is called in the tables, in the order of their lines. `kinds`: frameworks.Kind of each row."""
        self._names = names
        self._kinds = kinds
        self._by_key: dict[tuple[str, str], dict[int, dict]] = {}
        for result in results:
            self._by_key.setdefault((result["row"], result["framework"]), {})[result["round"]] = result
        present = {result["row"] for result in results}
        self.rows = [row for row in kinds if row in present]

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
        return sorted(present, key=lambda name: self.median(row, name, self._kinds[row].columns[0][1]))

    def markdown(self, titles: dict[str, str], missing: dict[str, dict[str, str]]) -> str:
        """One table per row. `titles`: of the rows. `missing`: row -> framework -> why it has no result."""
        parts = []
        for row in [row for row in self._kinds if row in self.rows or row in missing]:
            lines = [f"## {titles[row]}"]
            if row in self.rows:
                lines += ["", *self._table(row)]
            notes = [f"- {self._names[name]} has no result: {why}" for name, why in sorted(missing.get(row, {}).items())]
            parts.append("\n".join(lines + [""] * bool(notes) + notes))
        return "\n\n".join(parts) + "\n"

    def _table(self, row: str) -> list[str]:
        kind = self._kinds[row]
        head = ["framework"]
        for title, _ in kind.columns:
            head += [title, "Trainyard's ratio"]
        head += [title for title, _, _ in kind.facts]
        lines = ["| " + " | ".join(head) + " |", "|" + " --- |" + " ---: |" * (len(head) - 1)]
        for name in self.frameworks(row):
            cells = [self._names[name]]
            for _, field in kind.columns:
                cells += [_number(self.median(row, name, field)), _number(self.ratio(row, name, field), digits=2)]
            cells += [_number(self.median(row, name, field), digits) for _, field, digits in kind.facts]
            lines.append("| " + " | ".join(cells) + " |")
        return lines

    def ratios(self, rows: dict[str, str]) -> str:
        """Several rows in one table, a column each: Trainyard's ratio by the row's first column. `rows`: their short titles."""
        rows = {row: title for row, title in rows.items() if row in self.rows}
        lines = ["| " + " | ".join(["framework", *rows.values()]) + " |", "|" + " --- |" + " ---: |" * len(rows)]
        for name in self._names:
            ratios = [self.ratio(row, name, self._kinds[row].columns[0][1]) for row in rows]
            if name != BASELINE and any(ratio is not None for ratio in ratios):
                lines.append("| " + " | ".join([self._names[name], *(_number(ratio, digits=2) for ratio in ratios)]) + " |")
        return "\n".join(lines) + "\n"

    def not_lowest(self) -> list[str]:
        """Where another framework needs no more than the baseline."""
        return [
            f"{row}: {title}: {_number(ratio, digits=2)} of {self._names[name]}"
            for row in self.rows for title, field in self._kinds[row].columns for name in self.frameworks(row)
            if not name.startswith(BASELINE) and (ratio := self.ratio(row, name, field)) is not None and ratio >= 1]

    def summary(self) -> dict:
        """Medians and ratios of every row and framework, for the JSON file."""
        return {
            row: {
                name: {
                    "rounds": len(self._by_key[row, name]),
                    "median": {field: self.median(row, name, field) for _, field, *_ in (*kind.columns, *kind.facts)},
                    "trainyard_ratio": {field: self.ratio(row, name, field) for _, field in kind.columns},
                }
                for name in self.frameworks(row)
            }
            for row in self.rows for kind in [self._kinds[row]]
        }

    def chart(self, titles: dict[str, str], names: dict[str, str]) -> str:
        """An SVG of the first column of the rows in `titles`: a panel each, scaled to its slowest framework. `names`: short ones."""
        columns, gap, label, bar, line = 3, 24, 132, 9, 13
        width = 340
        panels = [self._panel(row, titles[row], names, width, label, bar, line) for row in self.rows if row in titles]
        body, y = [], 8
        for first in range(0, len(panels), columns):
            group = panels[first:first + columns]
            for i, (_, parts) in enumerate(group):
                body.append(f'<g transform="translate({gap + i * (width + gap)},{y})">' + "".join(parts) + "</g>")
            y += max(height for height, _ in group) + 18
        total = gap + min(columns, max(1, len(panels))) * (width + gap)
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{y}" viewBox="0 0 {total} {y}" '
            'font-family="Helvetica, Arial, sans-serif" font-size="10" fill="#24292f">',
            f'<rect width="{total}" height="{y}" fill="white"/>', *body, "</svg>", ""])

    def _panel(self, row, title, names, width, label, bar, line):
        """(height, parts) of one row."""
        kind, parts = self._kinds[row], []
        what, _, how = title.partition("; ")
        for text, size, weight in ((what, 11, "bold"), (f"{how}; {kind.unit}" if how else kind.unit, 10, "normal")):
            parts.append(_text(0, 11 if size == 11 else 24, text, size=size, weight=weight))
        y, field = 32, kind.columns[0][1]
        slowest = max(self.median(row, name, field) for name in self.frameworks(row))
        for name in self.frameworks(row):
            value = self.median(row, name, field)
            length = max(1.0, (width - label - 46) * value / slowest)
            ours = name.startswith(BASELINE)
            parts.append(_text(label - 5, y + bar - 1, names[name], anchor="end", weight="bold" if ours else "normal"))
            parts.append(f'<rect x="{label}" y="{y}" width="{length:.1f}" height="{bar}" fill="{"#1a7f37" if ours else "#afb8c1"}"/>')
            parts.append(_text(label + length + 4, y + bar - 1, _number(value)))
            y += line
        return y, parts


def _text(x: float, y: float, text: str, anchor: str = "start", weight: str = "normal", size: int = 10) -> str:
    return f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" font-weight="{weight}" font-size="{size}">{escape(text)}</text>'


def _number(value: float | None, digits: int | None = None) -> str:
    """Three significant digits, or a number of decimal places."""
    if value is None:
        return ""
    if digits is not None:
        return f"{value:.{digits}f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if value > 0 else "0"
