"""Compares which files our reader and Python's safetensors accept, on mutated small files.

    pip install safetensors==0.8.0 numpy torch==2.13.0     # in an environment of its own
    tools/bazel build //tools/convert:safetensors_check
    python tools/convert/safetensors_differential.py bazel-bin/tools/convert/safetensors_check \
        --files=20000 --seed=1

Ours must never accept what the library refuses, and may refuse what it accepts only for a
reason in STRICTER (trainer/checkpoint/README.md has the list in words). Prints counts and ends
with 1 after any other difference.
"""

import argparse
import collections
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import safetensors

DTYPES = (
    "BOOL F4 F6_E2M3 F6_E3M2 U8 I8 F8_E5M2 F8_E4M3 F8_E8M0 F8_E4M3FNUZ F8_E5M2FNUZ "
    "I16 U16 F16 BF16 I32 U32 F32 C64 F64 I64 U64"
).split()
BITS = {name: int(re.search(r"\d+", name)[0]) if name != "BOOL" else 8 for name in DTYPES}

# What ours says -> the character of the header that it must be about, if any.
STRICTER = [
    (r"comes twice$", None),
    (r"the header does not begin with '\{'$", None),
    (r"more than 64 dimensions$", None),
    (r"byte (\d+): expected an object$", "["),
    (r"byte (\d+): expected a string$", "{"),
]

# Pieces that take the place of others, or are put between them.
SNIPPETS = [
    "null", "true", "false", "0", "-0", "1", "-1", "1.0", "1e2", "01", "1e400", "1e-400", "18446744073709551615",
    "18446744073709551616", "9223372036854775808", "[]", "{}", "[0,0]", "[[]]", '""', '"a"', '"\\ud800"',
    '"\\ud83d\\ude82"', '"\\u0000"', '"\\x"', '"\n"', ",", ":", "{", "}", "[", "]", " ", "\n", "\t", "\x0b", "\ufeff",
    "//", '"dtype":"F32",', '"shape":[1],', '"more":{"a":[1,2.5,null]},', '"__metadata__":{},', '"__metadata__":null,',
    '["F32",[1],[0,4]]', '{"F32":null}', "NaN", "Infinity", "'a'", "[" * 130, "[" * 126 + "]" * 126,
    '{"a":' * 124 + "1" + "}" * 124,
]  # fmt: skip


def file_of(header, data, length=None):
    if isinstance(header, str):
        header = header.encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def entry(dtype, shape, begin):
    bits = BITS[dtype]
    for size in shape:
        bits *= size
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, begin + bits // 8]}


def base(rng):
    """A valid header and the number of bytes that follow it."""
    header, at = {}, 0
    if rng.random() < 0.4:
        header["__metadata__"] = {rng.choice("abé"): rng.choice(["", "pt", "ü"]) for _ in range(rng.randrange(3))}
    for _ in range(rng.randrange(4)):
        name = rng.choice(["a", "b", "w.weight", "é", "", "x\n"])
        if name in header:
            continue
        shape = [rng.choice([0, 1, 2, 4]) for _ in range(rng.randrange(4))]
        dtype = rng.choice(DTYPES)
        if BITS[dtype] < 8:
            shape.append(4)
        header[name] = entry(dtype, shape, at)
        at = header[name]["data_offsets"][1]
    items = list(header.items())
    rng.shuffle(items)
    return dict(items), at


def change_numbers(rng, header):
    """Changes a shape or an offset, most often to a value nearby."""
    tensors = [value for key, value in header.items() if key != "__metadata__"]
    if not tensors:
        return
    tensor = rng.choice(tensors)
    numbers = tensor[rng.choice(["shape", "data_offsets"])]
    edge = rng.choice([0, 1, 2, 3, 4, 8, 2**31, 2**32, 2**61, 2**63, 2**64 - 1, 2**64])
    action = rng.randrange(4)
    if action == 0 or not numbers:
        numbers.insert(rng.randrange(len(numbers) + 1), edge)
    elif action == 1:
        numbers.pop(rng.randrange(len(numbers)))
    else:
        at = rng.randrange(len(numbers))
        numbers[at] = edge if action == 2 else max(0, numbers[at] + rng.choice([-1, 1]))


def change_text(rng, text):
    """Replaces, repeats or removes a piece of the JSON."""
    pieces = re.findall(r'"(?:[^"\\]|\\.)*"|[\w.+-]+|.', text, re.DOTALL)
    at = rng.randrange(len(pieces))
    action = rng.randrange(5)
    if action == 0:
        pieces[at] = rng.choice(SNIPPETS)
    elif action == 1:
        pieces.insert(at, rng.choice(SNIPPETS))
    elif action == 2:
        pieces.pop(at)
    elif action == 3:
        end = min(len(pieces), at + rng.randrange(1, 20))
        pieces[end:end] = pieces[at:end]
    else:
        other = rng.randrange(len(pieces))
        pieces[at], pieces[other] = pieces[other], pieces[at]
    return "".join(pieces)


def mutated(rng):
    header, size = base(rng)
    kind = rng.choice(["none", "numbers", "text", "text", "text", "bytes", "length", "data", "padding"])
    if kind == "numbers":
        change_numbers(rng, header)
    text = json.dumps(header, ensure_ascii=rng.random() < 0.5, separators=rng.choice([(",", ":"), (", ", ": ")]))
    if kind == "text":
        for _ in range(rng.randrange(1, 3)):
            text = change_text(rng, text) or "{}"
    if kind == "padding":
        before, after = (rng.choice(["", " ", "\n", "  \t\r\n", "\0", "\x0c"]) for _ in range(2))
        text = (before if rng.random() < 0.3 else "") + text + after
    whole = bytearray(file_of(text, bytes(size)))
    if kind == "bytes":
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(whole)) if rng.random() < 0.2 else rng.randrange(8, max(9, len(whole) - size))
            whole[at % len(whole)] = rng.choice([rng.randrange(256), whole[at % len(whole)] ^ (1 << rng.randrange(8))])
    elif kind == "length":
        length = struct.unpack("<Q", whole[:8])[0]
        length = rng.choice([0, length - 1, length + 1, length + size, 10**8, 10**8 + 1, 2**63, 2**64 - 1, 2**64 - 8])
        whole[:8] = struct.pack("<Q", length % 2**64)
    elif kind == "data":
        whole = whole[: rng.randrange(len(whole) + 1)] if rng.random() < 0.7 else whole + bytes(rng.randrange(1, 9))
    return kind, bytes(whole)


def python_count(content):
    """How many tensors the library finds; None if it refuses the file."""
    try:
        return len(safetensors.deserialize(content))
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic of Rust's is no Exception
        return None


def is_stricter(message, content):
    for pattern, about in STRICTER:
        found = re.search(pattern, message)
        if found:
            return about is None or content[8 + int(found[1])] == ord(about)
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checker")
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    counts, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        cases = [mutated(rng) for _ in range(arguments.files)]
        paths = []
        for i, (_, content) in enumerate(cases):
            paths.append(os.path.join(folder, str(i)))
            with open(paths[-1], "wb") as file:
                file.write(content)
        ran = subprocess.run(
            [arguments.checker, "-"], input="\n".join(paths) + "\n", capture_output=True, text=True, errors="replace"
        )
        lines = ran.stdout.splitlines()
    if ran.returncode not in (0, 1) or len(lines) != len(cases):
        sys.exit(f"the checker ended with {ran.returncode} after {len(lines)} of {len(cases)} files")
    for (kind, content), line in zip(cases, lines):
        count = python_count(content)
        ours = int(line.split()[-2]) if line.startswith("ok ") else None
        if ours == count:
            counts["refused by both" if count is None else "accepted by both"] += 1
        elif ours is None and is_stricter(line, content):
            counts["refused by ours alone, for a documented reason"] += 1
        else:
            counts["DIFFERENT"] += 1
            wrong.append((kind, count, line, content))
    for what, number in sorted(counts.items()):
        print(f"{number:8} {what}")
    for kind, count, line, content in wrong[:10]:
        print(f"{kind}: the library finds {count} tensors; ours: {line}\n    {content!r}")
    sys.exit(1 if wrong else 0)


main()
