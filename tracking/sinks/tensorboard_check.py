#!/usr/bin/env python3
"""Reads a sample run with the real tensorboard package, whole and cut at any byte.

    pip install tensorboard
    tensorboard_check.py WRITE_SAMPLE [--steps=10000] [--cuts=300]
"""
import argparse
import random
import struct
import subprocess
import tempfile

import numpy as np
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.plugins.hparams import plugin_data_pb2

NAME = "events.out.tfevents.trainyard"


def read(folder):
    accumulator = event_accumulator.EventAccumulator(folder, size_guidance={
        event_accumulator.SCALARS: 0, event_accumulator.HISTOGRAMS: 0, event_accumulator.IMAGES: 0,
        event_accumulator.TENSORS: 0})
    accumulator.Reload()
    return accumulator


def check_whole(folder, steps):
    run = read(folder)
    assert run.file_version == 2.0, run.file_version
    for tag, wanted in [("loss", 1 / np.arange(1, steps + 1)), ('odd, "name"', np.sqrt(np.arange(1, steps + 1)))]:
        events = run.Scalars(tag)
        assert [event.step for event in events] == list(range(1, steps + 1))
        assert np.array_equal(np.array([event.value for event in events], np.float32), wanted.astype(np.float32))
    values = np.sin(np.arange(1000)).astype(np.float32)
    histogram = run.Histograms("weights/conv1")[0].histogram_value
    assert histogram.num == 1000 and sum(histogram.bucket) == 1000
    assert histogram.min == values.min() and histogram.max == values.max()
    counts, _ = np.histogram(values, bins=[-np.inf] + list(np.nextafter(histogram.bucket_limit, np.inf)))
    assert np.array_equal(counts, histogram.bucket)
    image = run.Images("input/first")[0]
    assert (image.width, image.height) == (2, 1)
    assert image.encoded_image_string.startswith(b"\x89PNG")
    text = run.Tensors("notes/text_summary")[0].tensor_proto
    assert text.string_val[0].decode() == "a *sample* run, äöü"
    assert run.SummaryMetadata("notes/text_summary").plugin_data.plugin_name == "text"
    start = plugin_data_pb2.HParamsPluginData.FromString(
        run.SummaryMetadata("_hparams_/session_start_info").plugin_data.content).session_start_info
    hparams = {name: getattr(value, value.WhichOneof("kind")) for name, value in start.hparams.items()}
    assert hparams == {"lr": 0.003, "model": "conv", "amp": True}, hparams
    experiment = plugin_data_pb2.HParamsPluginData.FromString(
        run.SummaryMetadata("_hparams_/experiment").plugin_data.content).experiment
    assert [(info.name, info.type) for info in experiment.hparam_infos] == [("amp", 2), ("lr", 3), ("model", 1)]
    assert experiment.metric_infos[0].name.tag == "loss"


def ends_of_records(data):
    """(end, number of records with numbers so far) after each record."""
    ends, numbers, at = [(0, 0)], 0, 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        message = data[at + 12:at + 12 + size]
        numbers += b"loss" in message and b"hparams" not in message
        at += size + 16
        ends.append((at, numbers))
    return ends


def check_cut(data, ends, cut):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/{NAME}", "wb") as file:
            file.write(data[:cut])
        run = read(folder)
        wanted = [numbers for end, numbers in ends if end <= cut][-1]
        found = len(run.Scalars("loss")) if "loss" in run.Tags()["scalars"] else 0
        assert found == wanted, (cut, found, wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("writer")
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--cuts", type=int, default=300)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([args.writer, folder, str(args.steps)], check=True)
        check_whole(f"{folder}/tensorboard", args.steps)
        print(f"whole: {args.steps} points of 2 tags, a histogram, an image, a text and hparams are exact")
        with tempfile.TemporaryDirectory() as small:
            subprocess.run([args.writer, small, "40"], check=True)
            with open(f"{small}/tensorboard/{NAME}", "rb") as file:
                data = file.read()
        ends = ends_of_records(data)
        cuts = range(len(data) + 1) if args.cuts == 0 else random.sample(range(len(data) + 1), args.cuts)
        for cut in cuts:
            check_cut(data, ends, cut)
        print(f"cut: at {len(cuts)} of {len(data) + 1} bytes, all before the cut is read")


if __name__ == "__main__":
    main()
