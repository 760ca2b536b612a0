#!/usr/bin/env python3
"""Writes tracking/scores/testdata/scores.txt: classification scores as scikit-learn computes them.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install scikit-learn==1.9.1 numpy==2.4.6
    /tmp/golden/bin/python tools/golden/scores.py tracking/scores/testdata/scores.txt

A case is a line `case NAME columns=C records=N`, a line `target` with N class numbers, a line `outputs` with N x C float32
values, and lines `METRIC AVERAGE ZERO_DIVISION value ...`: one value, or one per class for `per_class`. The confusion matrix is
`confusion - - value ...`, row by row. Ranking metrics take the outputs as they are; of several columns those of a record sum to
one, as scikit-learn requires of probabilities.
"""

import sys
import warnings

import numpy as np
import sklearn
from sklearn import metrics

AVERAGES = ("micro", "macro", "weighted", "per_class")


def probabilities(rng, records, classes, decimals=None):
    values = rng.dirichlet(np.ones(classes), records)
    if decimals is not None:
        # Multiples of a power of two are exact, and few, so that many are equal.
        values = np.round(values * 2 ** decimals) / 2 ** decimals
        values[:, -1] = 1 - values[:, :-1].sum(1)
    return values.astype(np.float32)


def cases():
    rng = np.random.default_rng(5)
    yield "binary", rng.integers(0, 2, 40), rng.normal(0, 1, (40, 1)).astype(np.float32)
    yield "binary_ties", rng.integers(0, 2, 60), np.round(rng.normal(0, 1, (60, 1))).astype(np.float32)
    yield "all_scores_equal", rng.integers(0, 2, 12), np.ones((12, 1), np.float32)
    yield "only_negative", np.zeros(9, int), rng.normal(0, 1, (9, 1)).astype(np.float32)
    yield "only_positive", np.ones(9, int), rng.normal(0, 1, (9, 1)).astype(np.float32)
    yield "nothing_predicted", rng.integers(0, 2, 15), -np.ones((15, 1), np.float32)
    yield "one_record", np.ones(1, int), np.ones((1, 1), np.float32)
    yield "two_columns", rng.integers(0, 2, 30), probabilities(rng, 30, 2)
    yield "three_classes", rng.integers(0, 3, 50), probabilities(rng, 50, 3)
    yield "three_classes_ties", rng.integers(0, 3, 64), probabilities(rng, 64, 3, 3)
    yield "ten_classes", rng.integers(0, 10, 200), probabilities(rng, 200, 10)
    yield "class_never_true", rng.choice([0, 1, 3], 40), probabilities(rng, 40, 4)
    outputs = probabilities(rng, 40, 4)
    outputs[:, 2] = 0
    outputs[:, 0] = 1 - outputs[:, 1] - outputs[:, 3]
    yield "class_never_predicted", rng.integers(0, 4, 40), outputs
    yield "class_never_there", rng.choice([0, 1, 3], 40), outputs
    yield "one_class_of_three", np.full(10, 1), probabilities(rng, 10, 3)


def class_scores(target, predicted, classes):
    labels = list(range(classes))
    functions = (("precision", metrics.precision_score), ("recall", metrics.recall_score), ("f1", metrics.f1_score))
    for name, function in functions:
        for zero in (0.0, 1.0, float("nan")):
            for average in AVERAGES:
                value = function(target, predicted, labels=labels, zero_division=zero,
                                 average=None if average == "per_class" else average)
                yield name, average, "%g" % zero, np.atleast_1d(value)
            if classes == 2:
                of_class = function(target, predicted, labels=labels, zero_division=zero, average=None)
                yield name, "positive", "%g" % zero, of_class[1:]
    yield "confusion", "-", "-", metrics.confusion_matrix(target, predicted, labels=labels).ravel()


def ranking_scores(target, outputs):
    columns = outputs.shape[1]
    if columns == 1:
        yield "auc", "positive", "-", [metrics.roc_auc_score(target, outputs[:, 0])]
        yield "ap", "positive", "-", [metrics.average_precision_score(target, outputs[:, 0])]
        return
    hot = np.eye(columns, dtype=int)[target]
    functions = (("auc", metrics.roc_auc_score), ("ap", metrics.average_precision_score))
    for name, function in functions:
        of_class = np.array([function(hot[:, k], outputs[:, k]) for k in range(columns)])
        defined = ~np.isnan(of_class)
        support = hot.sum(0)
        yield name, "per_class", "-", of_class
        yield name, "micro", "-", [function(hot.ravel(), outputs.ravel())]
        # scikit-learn's own average where it has one; without the classes that are undefined otherwise.
        if defined.all():
            yield name, "macro", "-", [function(hot, outputs, average="macro")]
            yield name, "weighted", "-", [function(hot, outputs, average="weighted")]
        elif defined.any():
            yield name, "macro", "-", [of_class[defined].mean()]
            if support[defined].sum() > 0:
                yield name, "weighted", "-", [np.average(of_class[defined], weights=support[defined])]
        if columns == 2:
            yield name, "positive", "-", of_class[1:]
        if name == "auc" and columns > 2 and defined.all():
            # As its users call it.
            own = metrics.roc_auc_score(target, outputs, multi_class="ovr", average="macro")
            assert abs(own - metrics.roc_auc_score(hot, outputs, average="macro")) < 1e-15


def numbers(values):
    return " ".join("%.17g" % value for value in values)


def main():
    warnings.simplefilter("ignore")
    with open(sys.argv[1], "w", encoding="ascii") as out:
        print("# From scikit-learn", sklearn.__version__, "and numpy", np.__version__,
              "by tools/golden/scores.py; not to be edited.", file=out)
        for name, target, outputs in cases():
            columns = outputs.shape[1]
            predicted = (outputs[:, 0] > 0).astype(int) if columns == 1 else outputs.argmax(1)
            print("case %s columns=%d records=%d" % (name, columns, len(target)), file=out)
            print("target", numbers(target), file=out)
            print("outputs", " ".join("%.9g" % value for value in outputs.ravel()), file=out)
            for line in class_scores(target, predicted, max(columns, 2)):
                print(*line[:3], numbers(line[3]), file=out)
            for line in ranking_scores(target, outputs):
                print(*line[:3], numbers(line[3]), file=out)


if __name__ == "__main__":
    main()
