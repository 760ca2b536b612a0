#!/usr/bin/env python3
"""Fuzzes the parsers of checkpoints and exported models with Debian's clang and libFuzzer, under ASan and UBSan.

    apt-get install clang-19 libclang-rt-19-dev
    python3 tools/faults/fuzz.py --seconds=600 [manifest states …]
    python3 tools/faults/fuzz.py --minimize        # the inputs found become the corpus that tests replay

Needs no Bazel: the parsers do not depend on libtorch. Exit code 1 if anything was found.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECKPOINT = ROOT / "trainer/checkpoint"
CORPUS = CHECKPOINT / "fuzz/corpus"
PARSERS = ["exported_graph", "manifest", "pt_layout", "safetensors_header", "shard_index", "states", "step_folder"]
SOURCES = [
    "trainer/exported/graph.cc",
    "trainer/exported/model_text.cc",
    "trainer/exported/step_text.cc",
    "trainer/state.cc",
    "trainer/io/testing/memory_file_system.cc",
    "trainer/io/testing/zip_bytes.cc",
    *(f"trainer/checkpoint/pt/{name}.cc" for name in ["pickle_tree", "pt_layout", "pt_tensor"]),
    *(f"trainer/io/{name}.cc" for name in ["crc32c", "file_system", "input_file", "json_reader", "json_string", "output_file", "quoted_name", "utf8", "zip_directory"]),
    *(f"trainer/checkpoint/{name}.cc" for name in [
        "safetensors/safetensors_dtype", "safetensors/safetensors_header", "safetensors/safetensors_layout", "folder/file_lock",
        "folder/retention", "folder/run_folder", "folder/step_names", "format/frame", "format/checked_read", "format/manifest",
        "format/shard_index", "format/states", "format/step_reader", "format/step_writer", "format/wire_count"]),
]
# Parsers that need only these: they are built in a fraction of the time.
FEW_SOURCES = {
    "exported_graph": [
        "trainer/exported/graph.cc", "trainer/exported/model_text.cc", "trainer/exported/step_text.cc", "trainer/io/json_reader.cc",
        "trainer/io/json_string.cc", "trainer/io/utf8.cc", "trainer/checkpoint/safetensors/safetensors_dtype.cc",
        "trainer/checkpoint/safetensors/safetensors_layout.cc", "trainer/io/quoted_name.cc"],
    "pt_layout": [
        "trainer/checkpoint/pt/pickle_tree.cc", "trainer/checkpoint/pt/pt_layout.cc", "trainer/checkpoint/pt/pt_tensor.cc",
        "trainer/checkpoint/safetensors/safetensors_dtype.cc", "trainer/io/file_system.cc", "trainer/io/input_file.cc",
        "trainer/io/quoted_name.cc", "trainer/io/testing/memory_file_system.cc", "trainer/io/testing/zip_bytes.cc",
        "trainer/io/utf8.cc", "trainer/io/zip_directory.cc"],
}
PROTOS = ["trainer/checkpoint/format/manifest.proto", "trainer/checkpoint/format/states.proto"]
FLAGS = ["-std=c++20", "-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
         "-fno-sanitize-recover=all", "-fsanitize=fuzzer-no-link", "-fprofile-instr-generate", "-fcoverage-mapping"]


def run(*argv, **kwargs) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in argv], check=True, **kwargs)


def build(work: pathlib.Path, clang: str, parsers: list[str]) -> None:
    work.mkdir(parents=True, exist_ok=True)
    needs_all = not all(parser in FEW_SOURCES for parser in parsers)
    needed = SOURCES if needs_all else sorted({source for parser in parsers for source in FEW_SOURCES[parser]})
    sources = [ROOT / source for source in [*needed, "trainer/checkpoint/fuzz/libfuzzer_main.cc"]]
    if needs_all:
        run("protoc", f"--proto_path={ROOT}", f"--cpp_out={work}", *(ROOT / proto for proto in PROTOS))
        sources += [work / proto.replace(".proto", ".pb.cc") for proto in PROTOS]
    flags = [*FLAGS, f"-I{ROOT}", f"-I{work}"]
    objects = []
    for source in sources + [CHECKPOINT / f"fuzz/{parser}_fuzz.cc" for parser in parsers]:
        target = work / (source.stem + ".o")
        if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
            run(clang, *flags, "-c", source, "-o", target)
        objects.append(target)
    common = [path for path in objects if not path.stem.endswith("_fuzz")]
    libraries = sorted(pathlib.Path("/usr/lib").glob("*/libabsl_*.so"))
    for parser in parsers:
        run(clang, "-fsanitize=fuzzer,address,undefined", "-fprofile-instr-generate", *common,
            work / f"{parser}_fuzz.o", "-Wl,--as-needed", *libraries, "-lprotobuf", "-lpthread", "-lz", "-o", work / parser)


def fuzz(work: pathlib.Path, parser: str, seconds: int) -> bool:
    found = work / f"{parser}-corpus"
    found.mkdir(exist_ok=True)
    done = subprocess.run(
        [work / parser, found, CORPUS / parser, f"-max_total_time={seconds}", "-max_len=65536", "-timeout=5",
         "-rss_limit_mb=512", "-print_final_stats=1", f"-artifact_prefix={work}/{parser}-"],
        capture_output=True, text=True, env={"LLVM_PROFILE_FILE": f"{work}/{parser}.profraw"})
    runs = re.search(r"number_of_executed_units:\s+(\d+)", done.stderr)
    peak = re.search(r"peak_rss_mb:\s+(\d+)", done.stderr)
    print(f"{parser}: {runs[1] if runs else '?'} runs in {seconds} s, peak {peak[1] if peak else '?'} MB, "
          f"{'nothing found' if done.returncode == 0 else 'FOUND: see ' + str(work)}", flush=True)
    if done.returncode != 0:
        print(done.stderr[-3000:])
    return done.returncode == 0


def minimize(work: pathlib.Path, parser: str, most: int) -> None:
    """Keeps of the corpus what adds coverage: about `most` files, of all sizes up to 2 KiB."""
    reduced = work / f"{parser}-reduced"
    shutil.rmtree(reduced, ignore_errors=True)
    reduced.mkdir()
    run(work / parser, "-merge=1", reduced, CORPUS / parser, work / f"{parser}-corpus", capture_output=True,
        env={"LLVM_PROFILE_FILE": "/dev/null"})
    small = [path for path in reduced.iterdir() if path.stat().st_size <= 2048]
    small.sort(key=lambda path: (path.stat().st_size, path.name))
    for path in small[::max(1, len(small) // most)]:
        shutil.copy(path, CORPUS / parser / path.name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parsers", nargs="*", default=PARSERS)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--clang", default="clang++-19")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/trainyard-fuzz"))
    parser.add_argument("--minimize", action="store_true")
    parser.add_argument("--most", type=int, default=60, help="files of a corpus that are kept")
    options = parser.parse_args()
    if shutil.which(options.clang) is None:
        print(f"SKIPPED: there is no {options.clang}; nothing was tested")
        return 0
    build(options.work, options.clang, options.parsers)
    sound = True
    for name in options.parsers:
        if options.minimize:
            minimize(options.work, name, options.most)
        else:
            sound = fuzz(options.work, name, options.seconds) and sound
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
