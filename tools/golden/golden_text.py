"""The text format of golden files, which schedulers/testing/golden_file.h reads.

A comment line says where the values come from. Each case is one line `case NAME key=value
...` with the settings, followed by lines of numbers: `value` or `value*count`. A case with
several sequences names each on a line of its own before it. The sequence `values` is given as
ratios of the setting `base`.

Numbers have 14 significant digits: rounded by at most 5e-14 of themselves, a twentieth of
what the tests allow, and short enough to keep every step.
"""

_COLUMNS = 200


def number(value):
    text = "%.14g" % value
    if text.startswith("0."):
        return text[1:]
    mantissa, _, exponent = text.partition("e")
    return mantissa + ("e%d" % int(exponent) if exponent else "")


def _rows(values):
    """Values as text, runs of equal ones as value*count, in lines of limited length."""
    words = []
    for text in map(number, values):
        if words and words[-1][0] == text:
            words[-1][1] += 1
        else:
            words.append([text, 1])
    line = ""
    for text, count in words:
        word = text if count == 1 else "%s*%d" % (text, count)
        if line and len(line) + 1 + len(word) > _COLUMNS:
            yield line
            line = word
        else:
            line = line + " " + word if line else word
    yield line


def write(path, source, cases):
    """Writes `cases`, tuples (name, settings, {sequence name: values}), to `path`."""
    with open(path, "w", encoding="ascii") as out:
        out.write("# From %s by tools/golden/schedules.py; not to be edited.\n" % source)
        for name, settings, sequences in cases:
            words = ["case", name]
            for key, value in settings.items():
                words.append("%s=%s" % (key, value if isinstance(value, str) else repr(value)))
            out.write(" ".join(words) + "\n")
            for sequence, values in sequences.items():
                if len(sequences) > 1:
                    out.write(sequence + "\n")
                unit = settings["base"] if sequence == "values" else 1
                for row in _rows([value / unit for value in values]):
                    out.write(row + "\n")
