"""Operators of ai.onnx.ml of which ONNX infers no dims, or in later versions only.

Those that give something for each row of a matrix take a tensor of one dim for a single row, as
onnxruntime does; the specification says no more than the dims of the outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensat_dl.vocabulary.question import Question, Shape


def _same(question: Question) -> list[Shape]:
    return [question.dims(0)]


def _scores(question: Question) -> list[Shape]:
    rows = _rows(question)
    return [None if rows is None else [*rows, None]]


def _labels_and_scores(question: Question) -> list[Shape]:
    return [_rows(question), *_scores(question)]


def _rows(question: Question) -> Shape:
    given = question.dims(0)
    if given is None or len(given) not in (1, 2):
        return None
    return [given[0] if len(given) == 2 else 1]


SHAPES: Mapping[str, Callable[[Question], list[Shape]]] = {
    "LinearClassifier": _labels_and_scores,
    "LinearRegressor": _scores,
    "Normalizer": _same,
    "Scaler": _same,
    "SVMClassifier": _labels_and_scores,
    "SVMRegressor": _scores,
    "TreeEnsembleClassifier": _labels_and_scores,
    "TreeEnsembleRegressor": _scores,
}
