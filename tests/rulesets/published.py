"""TENSAT's rules as they were published, and what they say in ONNX's operators.

`published.txt` has one line for each rule, in the notation of operators with positional arguments:
`mm` matmul; `+`, `*` element by element; `cv`, `cvR` convolution of stride 1 that keeps the size,
with ReLU; `catK/N` concatenation on axis K of tensors of rank N; `spK` split on axis K where it
was joined; `enl` a kernel enlarged to the size of another, `mrg` pairs of groups merged.

A convolution has as many groups as its input has channels for each of its weights', and what is
added or multiplied may be broadcast: the published rules ask for nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

#: Refuted as they were published.
UNGROUPED = frozenset("S92 S93 S118 S119".split())
GROUPED = frozenset("S91 S98 S115 S116 S117 M12 M13 M14 M15".split())
BROADCAST = frozenset(
    "S59 S60 S61 S62 S68 S69 S71 S72 S76 S77 S79 S80 S81 S82 S83 S84 S89 S90 S94 S95 S111 S112 "
    "S113 S114".split()
)


@dataclass(frozen=True)
class Term:
    """`head` applied to `args`; a variable has none."""

    head: str
    args: tuple[Term, ...] = ()

    def variables(self) -> Iterator[str]:
        if not self.args:
            yield self.head
        for arg in self.args:
            yield from arg.variables()

    def heads(self) -> Iterator[str]:
        if self.args:
            yield self.head
        for arg in self.args:
            yield from arg.heads()


@dataclass(frozen=True)
class Equation:
    """One output or two, left and right."""

    number: str
    left: tuple[Term, ...]
    right: tuple[Term, ...]

    @property
    def variables(self) -> list[str]:
        return sorted({name for term in self.left for name in term.variables()})

    @property
    def rank(self) -> int | None:
        """Of all its variables; None where elementwise operators leave it open."""
        heads = {head for term in (*self.left, *self.right) for head in term.heads()}
        ranks = {int(head[-1]) for head in heads if "/" in head}
        ranks |= {2 for head in heads if head == "mm"} | {4 for head in heads if head[:2] == "cv"}
        assert len(ranks) <= 1, self.number
        return next(iter(ranks), None)


@cache
def equations() -> Mapping[str, Equation]:
    """By number."""
    text = (Path(__file__).parent / "published.txt").read_text(encoding="utf-8")
    return {e.number: e for e in map(_equation, text.splitlines()) if e is not None}


def compute(term: Term, arrays: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """A term of joins, sums and products as numpy has it.  Raises ValueError for shapes that fit
    nothing."""
    if not term.args:
        return arrays[term.head]
    first, second = (compute(arg, arrays) for arg in term.args)
    if term.head.startswith("cat"):
        return np.concatenate([first, second], axis=int(term.head[3]))
    return first + second if term.head == "+" else first * second


@cache
def wrong_where_broadcast() -> frozenset[str]:
    """The numbers of the equations of joins, sums and products that have the same dims on both
    sides, and other elements, for some sizes of two axes: mostly those with an empty dim beside a
    dim of 1."""
    simple = [
        equation
        for equation in equations().values()
        if all(
            head[:3] == "cat" or head in "+*"
            for term in (*equation.left, *equation.right)
            for head in term.heads()
        )
    ]
    assert len(simple) == 55
    return frozenset(equation.number for equation in simple if _is_wrong(equation))


def _is_wrong(equation: Equation) -> bool:
    more = (1,) * ((equation.rank or 2) - 2)
    shapes = [(*dims, *more) for dims in product((0, 1, 2), repeat=2)]
    rng = np.random.default_rng(0)
    for chosen in product(shapes, repeat=len(equation.variables)):
        given = [rng.integers(-50, 50, shape) for shape in chosen]
        arrays = dict(zip(equation.variables, given, strict=True))
        try:
            lefts, rights = (
                [compute(term, arrays) for term in side] for side in (equation.left, equation.right)
            )
        except ValueError:  # they do not broadcast, or do not join
            continue
        pairs = list(zip(lefts, rights, strict=True))
        alike = all(left.shape == right.shape for left, right in pairs)
        if alike and not all(np.array_equal(left, right) for left, right in pairs):
            return True
    return False


def _equation(line: str) -> Equation | None:
    if not line.strip() or line.startswith("#"):
        return None
    number, rest = line.split(maxsplit=1)
    sides = [tuple(parse(part) for part in side.split("&")) for side in rest.split("=>")]
    return Equation(number, sides[0], sides[1])


def parse(text: str) -> Term:
    """A term of `published.txt`."""
    tokens = re.findall(r"\w+/\d|[\d]:sp\d|\w+|[(),+*\[\]]", text)
    term, rest = _parse(tokens)
    assert not rest, text
    return term


def _parse(tokens: list[str]) -> tuple[Term, list[str]]:
    head, *rest = tokens
    if head == "(":
        left, (sign, *rest) = _parse(rest)
        right, (_, *rest) = _parse(rest)
        return Term(sign, (left, right)), rest
    if not rest or rest[0] not in ("(", "["):
        return Term(head), rest
    args = []
    while rest[0] not in (")", "]"):
        arg, rest = _parse(rest[1:])
        args.append(arg)
    return Term(head, tuple(args)), rest[1:]


# --- as text of a rule file -----------------------------------------------------------------------


@dataclass
class _Writer:
    """Terms as ONNX's operators; subclasses say how convolutions are written."""

    def term(self, term: Term) -> str:
        if not term.args:
            return term.head.lower()
        if term.head in ("cv", "cvR"):
            name = "Conv" if term.head == "cv" else "ConvRelu"
            return f"{name}({self.convolution(*term.args)})"
        if term.head == "enl":
            return _enlarged(*term.args)
        args = ", ".join(self.term(arg) for arg in term.args)
        if term.head.startswith("cat"):
            return f"Concat({args}, axis={term.head[3]})"
        return f"{_NAMES[term.head]}({args})"

    def convolution(self, x: Term, w: Term) -> str:
        raise NotImplementedError

    def merged(self, x: Term, w: Term, group: str, rest: str) -> str:
        """The operands and attributes; `mrg` halves the groups."""
        if w.head != "mrg":
            return f"{self.term(x)}, {self.term(w)}, group={group}, {rest}"
        merged = f"MergeGroups({self.term(w.args[0])}, group={group})"
        return f"{self.term(x)}, {merged}, group=({group}) // 2, {rest}"


@dataclass
class Ground(_Writer):
    """Kernels of 3 x 3, of 1 x 1 for the weights in `small`, that keep the size."""

    small: frozenset[str] = frozenset()

    def convolution(self, x: Term, w: Term) -> str:
        pad = 0 if w.head in self.small else 1
        return self.merged(x, w, _implied(x, w), f"pads=[{pad}, {pad}, {pad}, {pad}]")


@dataclass
class Published(_Writer):
    """Convolutions of any group on the left, on the right of what follows from the channels, and
    with any other attributes, alike in all; of stride 1 and padding that keeps the size where
    kernels are `enlarged`."""

    enlarged: bool
    grouped: bool
    right: bool = False
    groups: int = 0

    def convolution(self, x: Term, w: Term) -> str:
        weights = w.args[0] if w.head == "mrg" else w
        self.groups += 1
        left = f"g{self.groups}" if self.grouped else "1"
        group = _implied(x, w) if self.right else left
        return self.merged(x, w, group, self._rest(weights))

    def _rest(self, w: Term) -> str:
        if not self.enlarged:
            return "**attrs"
        kernel = w.args[1] if w.head.startswith("cat") else w
        pads = ", ".join(f"dim({kernel.head.lower()}, {axis}) // 2" for axis in (2, 3, 2, 3))
        return f"pads=[{pads}]"


def _implied(x: Term, w: Term) -> str:
    """The groups that follow from the channels."""
    weights = w.args[0] if w.head == "mrg" else w
    return "1" if x == weights else f"({size(x, 1)}) // ({size(weights, 1)})"


_NAMES = {"mm": "MatMul", "+": "Add", "*": "Mul", "relu": "Relu"}


def _enlarged(w: Term, like: Term) -> str:
    small, large = w.head.lower(), like.head.lower()
    high, wide = (f"dim({large}, {axis}) - dim({small}, {axis})" for axis in (2, 3))
    before = f"({high}) // 2, ({wide}) // 2"
    behind = f"({high} + 1) // 2, ({wide} + 1) // 2"
    return f"Pad({small}, i64([0, 0, {before}, 0, 0, {behind}]))"


def size(term: Term, axis: int) -> str:
    """The expression of a dim."""
    if not term.args:
        return f"dim({term.head.lower()}, {axis})"
    if term.head.startswith("cat") and int(term.head[3]) == axis:
        return " + ".join(size(arg, axis) for arg in term.args)
    if term.head == "mm":
        return size(term.args[axis], axis)
    if term.head in ("cv", "cvR"):
        return size(term.args[axis], 0)
    return size(term.args[0], axis)


def published_rule(equation: Equation, *, grouped: bool = True) -> str:
    """The rule as it was published, for `verify`; not `grouped`: for one group on the left."""
    heads = {head for term in equation.right for head in term.heads()}
    writer = Published(enlarged="enl" in heads, grouped=grouped)
    types = "" if equation.rank is None else f": _[{', '.join('_' * equation.rank)}]"
    seen: set[str] = set()
    left = [_typed(writer.term(term), types, seen) for term in equation.left]
    writer.right = True
    name = equation.number.lower()
    if len(left) == 1:
        return f"@real\nrewrite {name}: {left[0]} => {writer.term(equation.right[0])}\n"
    smaller = "  where dim(b, 2) <= dim(c, 2), dim(b, 3) <= dim(c, 3)\n" if writer.enlarged else ""
    return (
        f"@real\nrule {name} {{\n  match {{\n    y = {left[0]}\n    z = {left[1]}\n  }}\n{smaller}"
        f"  emit {{ {_pair(equation, writer)} }}\n}}\n"
    )


def _pair(equation: Equation, writer: Published) -> str:
    first, second = equation.right
    if ":" not in first.head:
        return f"y = {writer.term(first)} z = {writer.term(second)}"
    axis = int(first.head[-1])
    sizes = ", ".join(size(term, axis) for term in equation.left)
    return f"y, z = Split({writer.term(first.args[0])}, i64([{sizes}]), axis={axis})"


def _typed(text: str, types: str, seen: set[str]) -> str:
    """A type behind each variable, where it stands first; not inside of expressions."""

    def add(found: re.Match[str]) -> str:
        name = found.group()
        if name in seen:
            return name
        seen.add(name)
        return name + types

    return re.sub(r"(?<!dim\()\b[a-d]\b", add, text)


def proofs(rules: Mapping[str, str]) -> str:
    """Tests of the rule language: on tensors of small dims, the rule of each number proves its
    equation."""
    return _HEAD + "".join(_proof(e, f"tensat.{rules[n]}") for n, e in equations().items())


_HEAD = """#! Tests of `tensat`: what was published, and what types and conditions leave out of it.
language 1

import "../tensat.tsat" as tensat
import "../tensat.tsat" { ConvRelu, MergeGroups }

## Whatever is joined is cheaper.
cost model joined { Concat = 0  Pad = 0  Split = 0  _ = 1 }

# --- the published equations ---------------------------------------------------------------------

"""


def _proof(equation: Equation, rule: str) -> str:
    heads = {head for term in (*equation.left, *equation.right) for head in term.heads()}
    shapes = {name.lower(): [3] * (equation.rank or 2) for name in equation.variables}
    writer = Ground()
    if "mrg" in heads:
        shapes = {"a": [3, 4, 3, 3], "b": [4, 2, 3, 3]}
    if "enl" in heads:
        shapes["b"], writer = [3, 3, 1, 1], Ground(small=frozenset("B"))
    inputs = ", ".join(f"{name}: f32{dims}" for name, dims in shapes.items())
    lines = [f"  input {inputs}"]
    for output, term in zip("yz", equation.left, strict=False):
        lines.append(f"  given {output} = {writer.term(term)}")
    lines += _claims(equation, writer, shapes)
    body = "\n".join(lines)
    return f'test "{equation.number}" using {rule} {{\n{body}\n}}\n'


def _claims(equation: Equation, writer: Ground, shapes: Mapping[str, list[int]]) -> list[str]:
    first = equation.right[0]
    if ":" not in first.head:
        pairs = zip("yz", equation.right, strict=False)
        return [f"  expect {output} == {writer.term(term)}" for output, term in pairs]
    whole = writer.term(first.args[0])
    return [f"  expect best under joined y, z = Split({whole}, i64([3, 3]), axis={first.head[-1]})"]
