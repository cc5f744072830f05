"""Inputs of normalisations, softmax and reductions."""

from __future__ import annotations

from collections.abc import Mapping

from tensat_dl.soundness.proposals.application import Application, Misfit, Proposal
from tensat_dl.vocabulary.dtypes import DType


def _per_channel(a: Application) -> None:
    """One number for each place of axis 1."""
    sizes = a.sizes(0)
    if sizes is None:
        known = next((s for i in range(1, 5) if (s := a.sizes(i))), [None])
        sizes = [None, known[0], *[None] * a.draw.random.choice((2, 2, 1, 0, 3))]
    elif len(sizes) < 2:
        raise Misfit
    if sizes[1] is None:
        sizes[1] = next((s[0] for i in range(1, 5) if (s := a.sizes(i)) and s[0] is not None), None)
    a.choose("epsilon", 1e-5, 0.5, 0.25)
    a.choose("momentum", 0.9, 0.5)
    a.settle(0, sizes)
    for index in range(1, len(a.inputs)):
        a.settle(index, [a.dim(0, 1)])


def _layer_normalization(a: Application) -> None:
    """Scales, and shifts where the operator has them, of the axes that are normalised."""
    sizes = a.sizes(0)
    if sizes is None:
        sizes = [None] * a.draw.any_rank(1, 4)
    if not sizes:
        raise Misfit
    a.settle(0, sizes)
    dims = a.dims(0)
    axis = a.choose_axis(len(dims)) % len(dims)
    a.choose("epsilon", 1e-5, 0.5)
    for index in range(1, len(a.inputs)):
        if a.is_open(index):
            rank = a.rank(index)
            full = dims[axis:]
            a.settle(index, full if rank is None else full[len(full) - rank :] if rank else ())


def _softmax(a: Application) -> None:
    a.settle(0, None if a.sizes(0) is not None else a.draw.dims(1))
    a.choose_axis(len(a.dims(0)))


def _reduction(a: Application) -> None:
    a.settle(0)
    rank = len(a.dims(0))
    axes = a.draw.axes(rank)
    if a.is_open(1):
        fixed = a.sizes(1)
        if fixed and fixed[0] is not None and fixed[0] <= rank:
            axes = tuple(sorted(a.draw.random.sample(range(rank), fixed[0])))
        a.settle(1, [len(axes)], dtype=DType.I64, value=axes)
    a.choose("keepdims", 0, 1)
    a.choose("noop_with_empty_axes", 0, 1)


PROPOSALS: Mapping[str, Proposal] = {
    "BatchNormalization": _per_channel,
    "InstanceNormalization": _per_channel,
    "LayerNormalization": _layer_normalization,
    "RMSNormalization": _layer_normalization,
    "Softmax": _softmax,
    "LogSoftmax": _softmax,
    "Hardmax": _softmax,
    **{
        f"Reduce{name}": _reduction
        for name in (
            *("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"),
        )
    },
}
