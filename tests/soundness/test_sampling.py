"""The instances of a rule are the nasty ones: what people forget is among a few hundred."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rule_files import program_of

from tensat_dl.soundness.instances import Instance, Sampler
from tensat_dl.soundness.subject import make_subject
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import AbsentType, TensorType

pytestmark = pytest.mark.slow


def instances(text: str, count: int) -> Iterator[Instance]:
    program = program_of(text)
    sampler = Sampler(make_subject(program, program.rules[0]), 0)
    found = 0
    while found < count:
        instance = sampler.attempt()
        if instance is not None:
            found += 1
            yield instance


def dims(instance: Instance, name: str) -> tuple[int, ...] | None:
    type_ = instance.rows[0].scope.tensors[name].type
    if not isinstance(type_, TensorType):
        return None
    return tuple(dim for dim in type_.dims or () if isinstance(dim, int))


def test_convolutions() -> None:
    seen: set[str] = set()
    for found in instances(
        "rewrite r: Relu(Relu(Conv(x, w, b?, **a))) => Relu(Conv(x, w, b, **a))", 400
    ):
        given = found.rows[0].attributes[_conv(found), False][0].as_dict()
        x, w = dims(found, "x"), dims(found, "w")
        assert x is not None
        assert w is not None
        kernel, channels, group = w[2:], x[1], given["group"]
        seen |= {f"group {min(int(group), 3)}"}  # type: ignore[arg-type]
        seen |= {"depthwise"} if group == channels > 1 else set()
        seen |= {"unequal channels"} if w[0] != channels else set()
        seen |= {"rectangular"} if len(set(kernel)) > 1 else set()
        seen |= {"even kernel"} if any(k % 2 == 0 for k in kernel) else set()
        seen |= {"odd kernel"} if any(k % 2 == 1 and k > 1 for k in kernel) else set()
        seen |= {"strides"} if set(given["strides"]) != {1} else set()  # type: ignore[arg-type]
        seen |= {"dilations"} if set(given["dilations"]) != {1} else set()  # type: ignore[arg-type]
        pads = given.get("pads", ())
        half = len(pads) // 2  # type: ignore[arg-type]
        seen |= {"unequal pads"} if pads[:half] != pads[half:] else set()  # type: ignore[index]
        seen |= {f"{len(kernel)} spatial axes"}
        absent = isinstance(found.rows[0].scope.tensors["b"].type, AbsentType)
        seen |= {"no bias" if absent else "bias"}
        seen |= {"a dim of 1"} if 1 in x else set()
        seen |= {"a dim of 0"} if 0 in x else set()
    assert seen >= {
        *("group 1", "group 2", "group 3", "depthwise", "unequal channels", "rectangular"),
        *("even kernel", "odd kernel", "strides", "dilations", "unequal pads"),
        *("1 spatial axes", "2 spatial axes", "3 spatial axes", "bias", "no bias", "a dim of 1"),
        "a dim of 0",
    }


def _conv(instance: Instance) -> int:
    matches = instance.plan.left.matches
    return next(i for i, match in enumerate(matches) if match.operator.name == "Conv")


def test_broadcasting_on_each_side_and_element_types() -> None:
    seen: set[str] = set()
    for found in instances("rewrite r: Identity(Add(x, y)) => Add(x, y)", 400):
        x, y = dims(found, "x"), dims(found, "y")
        assert x is not None
        assert y is not None
        wide = found.type_of(found.roots[0])
        assert isinstance(wide, TensorType)
        seen |= {"x is widened"} if x != wide.dims else set()
        seen |= {"y is widened"} if y != wide.dims else set()
        seen |= {"both are widened"} if x != wide.dims != y else set()
        seen |= {"x has fewer axes"} if len(x) < len(y) else set()
        seen |= {"y has fewer axes"} if len(y) < len(x) else set()
        seen |= {"equal"} if x == y else set()
        seen |= {"nothing"} if 0 in x else set()
        seen |= {f"rank {len(x)}", wide.dtype.label}
    assert seen >= {
        *("x is widened", "y is widened", "both are widened", "x has fewer axes"),
        *("y has fewer axes", "equal", "nothing", "f32", "f64", "f16", "i64", "i32"),
        *(f"rank {rank}" for rank in range(6)),
    }


def test_axes_from_either_end_and_lists_of_any_length() -> None:
    text = """
        rewrite r: Identity(Concat(*xs, axis=k)) => Concat(*xs, axis=k)"""
    lengths = {len(found.rows[0].scope.lists["xs"]) for found in instances(text, 60)}
    assert lengths >= {1, 2, 3}
    text = "rewrite r: Identity(ReduceMax(x, axes?, **a)) => ReduceMax(x, axes, **a)"
    signs: set[object] = set()
    for found in instances(text, 120):
        axes = found.rows[0].scope.tensors["axes"].type
        value = axes.value if isinstance(axes, TensorType) else None
        signs |= {"absent"} if value is None else {item < 0 for item in value}  # type: ignore[operator]
        signs.add(f"keepdims {dict(found.rows[0].attributes[0, False][0].items).get('keepdims')}")
    assert signs >= {"absent", True, False}


def test_groups_have_several_members_of_other_sizes() -> None:
    text = """
        rule r {
          match each (y, w, N) by (x) { y = MatMul(x, w: T[K, N]) }
          where rank(x) >= 1
          emit { *y = Split(MatMul(x, Concat(*w, axis=1)), i64([*N]), axis=-1) }
        }"""
    found = list(instances(text, 60))
    assert {len(instance.rows) for instance in found} == {2, 3}
    assert any(len({dims_of(row) for row in instance.rows}) > 1 for instance in found)
    for instance in found:
        assert len({instance.rows[i].scope.tensors["x"].type for i in range(2)}) == 1


def dims_of(row: object) -> object:
    return row.scope.tensors["w"].type.dims  # type: ignore[attr-defined]


def test_parts_of_a_shape_are_lists_of_integers() -> None:
    """Of 100 attempts some succeed, which they hardly do with parts of any type and rank."""
    program = program_of(
        "rule r {\n"
        "  match { s = Concat(a, b, axis=0) y = Reshape(x, s) z = Relu(y) }\n"
        "  where value(s) == shape(y)\n"
        "  emit { z = Reshape(Relu(x), s) }\n"
        "}"
    )
    sampler = Sampler(make_subject(program, program.rules[0]), 0)
    found = [made for _ in range(100) if (made := sampler.attempt()) is not None]
    assert len(found) >= 5
    for made in found:
        for name in "ab":
            type_ = made.rows[0].scope.tensors[name].type
            assert isinstance(type_, TensorType)
            assert (type_.dtype, type_.rank) == (DType.I64, 1)
