"""Windows of convolutions and poolings, and the inputs of poolings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensat_dl.soundness.draws import Draw
from tensat_dl.soundness.proposals.application import Application, Misfit, Proposal

_KERNELS = (1, 1, 2, 3, 3)


def spatial_rank(a: Application, places: Sequence[int]) -> int:
    """How many axes a window slides over: what inputs or attributes say, else mostly two."""
    for place in places:
        rank = a.rank(place)
        if rank is not None:
            if rank < 2:
                raise Misfit
            return rank - 2
    for name, share in (("kernel_shape", 1), ("strides", 1), ("dilations", 1), ("pads", 2)):
        given = a.ints(name)
        if given is not None:
            return len(given) // share
    return a.draw.random.choice((2, 2, 2, 1, 1, 3) if not a.draw.small else (1, 2))


def choose_window(
    a: Application,
    sizes: Sequence[int | None],
    kernel: Sequence[int | None],
    *,
    output_padding: bool = False,
) -> tuple[int, ...]:
    """Choose strides, dilations and pads; the kernel, where it is free."""
    draw, count = a.draw, len(sizes)
    drawn = tuple(
        _kernel(draw, size) if k is None else k for k, size in zip(kernel, sizes, strict=True)
    )
    plain = draw.design is None and draw.chance(0.3)
    ones, zeros = (1,) * count, (0,) * (2 * count)
    steps = tuple(draw.random.choice((1, 1, 2)) for _ in range(count))
    spacing = tuple(draw.random.choice((1, 1, 1, 2)) for _ in range(count))
    widths = tuple(draw.random.choice((0, 1, 0, 1, 2)) for _ in range(2 * count))
    a.choose_kind("strides", {"one": ones} if plain else {"one": ones, "any": steps}, usual="one")
    a.choose_kind(
        "dilations", {"one": ones} if plain else {"one": ones, "any": spacing}, usual="one"
    )
    mode = a.choose("auto_pad", "NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    if mode == "NOTSET":
        pads = {"none": zeros} if plain else {"any": widths, "none": zeros, "1": (1,) * (2 * count)}
        a.choose_kind("pads", pads)
    if output_padding and not plain and draw.chance(0.2):
        a.choose("output_padding", tuple(draw.random.choice((0, 1)) for _ in range(count)))
    return drawn


def _kernel(draw: Draw, size: int | None) -> int:
    width = draw.random.choice(_KERNELS)
    return width if size is None or draw.chance(0.2) else max(min(width, size), 1)


def _pool(a: Application) -> None:
    draw = a.draw
    spatial = spatial_rank(a, (0,))
    if spatial == 0:
        raise Misfit
    sizes = a.sizes(0) or [None] * (2 + spatial)
    fixed = a.ints("kernel_shape")
    if fixed is not None and len(fixed) != spatial:
        raise Misfit
    kernel = choose_window(a, sizes[2:], fixed or [None] * spatial)
    a.choose("kernel_shape", kernel)
    a.choose("ceil_mode", 0, 0, 1)
    a.choose("count_include_pad", 0, 1)
    extents = [
        k + draw.random.randint(0, 3) if size is None else size
        for size, k in zip(sizes[2:], kernel, strict=True)
    ]
    batch = [draw.size() if size is None else size for size in sizes[:2]]
    a.settle(0, [*batch, *extents])


def _global_pool(a: Application) -> None:
    spatial = spatial_rank(a, (0,))
    sizes = a.sizes(0) or [None] * (2 + spatial)
    a.settle(0, [*sizes[:2], *(a.draw.extent() if s is None else s for s in sizes[2:])])


PROPOSALS: Mapping[str, Proposal] = {
    "AveragePool": _pool,
    "MaxPool": _pool,
    "LpPool": _pool,
    "GlobalAveragePool": _global_pool,
    "GlobalMaxPool": _global_pool,
    "GlobalLpPool": _global_pool,
}
