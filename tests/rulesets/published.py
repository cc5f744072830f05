"""TENSAT's rules as they were published, and what they say in ONNX's operators.

`PUBLISHED` has one line for each rule, in the notation of operators with positional arguments:
`mm` matmul; `+`, `*` element by element; `cv`, `cvR` convolution of stride 1 that keeps the size,
with ReLU; `catK/N` concatenation on axis K of tensors of rank N; `spK` split on axis K where it
was joined; `enl` a kernel enlarged to the size of another, `mrg` pairs of groups merged.

A convolution has as many groups as its input has channels for each of its weights', and what is
added or multiplied may be broadcast: the published rules ask for nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

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


def _equation(line: str) -> Equation | None:
    if not line.strip() or line.startswith("#"):
        return None
    number, rest = line.split(maxsplit=1)
    sides = [tuple(parse(part) for part in side.split("&")) for side in rest.split("=>")]
    return Equation(number, sides[0], sides[1])


def parse(text: str) -> Term:
    """A term of `PUBLISHED`."""
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
class Writer:
    """Terms as ONNX's operators.  `ground`: convolutions of 3 x 3 without groups; else with all
    attributes, and the groups that follow from the channels: any on the left."""

    ground: bool
    groups: list[str] = field(default_factory=list)
    right: bool = False

    def term(self, term: Term) -> str:
        if not term.args:
            return term.head.lower()
        if term.head in ("cv", "cvR"):
            return self._convolution(term)
        if term.head == "enl":
            return self._enlarged(*term.args)
        args = ", ".join(self.term(arg) for arg in term.args)
        if term.head.startswith("cat"):
            return f"Concat({args}, axis={term.head[3]})"
        return f"{_NAMES[term.head]}({args})"

    def _convolution(self, term: Term) -> str:
        name = "Conv" if term.head == "cv" else "ConvRelu"
        x, w = term.args
        merged = w.head == "mrg"
        if merged:
            w = w.args[0]
        groups = self._groups(x, w)
        weights = self.term(w)
        if merged:
            weights, groups = f"MergeGroups({weights}, group={groups})", f"{groups} // 2"
        return f"{name}({self.term(x)}, {weights}, {self._attributes(term, groups)})"

    def _groups(self, x: Term, w: Term) -> str:
        if self.ground:
            return "1"
        if self.right:
            return "1" if x == w else f"({size(x, 1)}) // ({size(w, 1)})"
        self.groups.append(f"g{len(self.groups)}")
        return self.groups[-1]

    def _attributes(self, term: Term, groups: str) -> str:
        if self.ground:
            return f"group={groups}, pads=[1, 1, 1, 1]"
        return f"group={groups}, **attrs"

    def _enlarged(self, w: Term, like: Term) -> str:
        small, large = w.head.lower(), like.head.lower()
        high, wide = (f"dim({large}, {axis}) - dim({small}, {axis})" for axis in (2, 3))
        before = f"({high}) // 2, ({wide}) // 2"
        behind = f"({high} + 1) // 2, ({wide} + 1) // 2"
        return f"Pad({small}, i64([0, 0, {before}, 0, 0, {behind}]))"


_NAMES = {"mm": "MatMul", "+": "Add", "*": "Mul", "relu": "Relu"}


def size(term: Term, axis: int) -> str:
    """The expression of a dim."""
    first = term.args[0] if term.args else term
    match term.head:
        case head if not term.args:
            return f"dim({head.lower()}, {axis})"
        case head if head.startswith("cat") and int(head[3]) == axis:
            return " + ".join(size(arg, axis) for arg in term.args)
        case "mm" | "cv" | "cvR":
            return size(term.args[axis], 0 if term.head != "mm" else axis)
        case _:
            return size(first, axis)


def published_rule(equation: Equation) -> str:
    """The rule in its published form."""
    kernels = {"enl": ("same(v)", "same(w)")}
    writer = Writer(ground=False)
    rank = equation.rank
    types = "" if rank is None else f": _[{', '.join('_' * rank)}]"
    left = [_typed(writer.term(term), types, seen) for seen in [set()] for term in equation.left]
    writer.right = True
    del kernels
    name = equation.number.lower()
    if len(equation.left) == 1:
        return f"@real\nrewrite {name}: {left[0]} => {writer.term(equation.right[0])}\n"
    body = "\n".join(f"    {out} = {term}" for out, term in zip("yz", left, strict=True))
    return f"@real\nrule {name} {{\n  match {{\n{body}\n  }}\n  emit {{ {_pair(equation, writer)} }}\n}}\n"


def _pair(equation: Equation, writer: Writer) -> str:
    first, second = equation.right
    if ":" not in first.head:
        return f"y = {writer.term(first)}\n z = {writer.term(second)}"
    axis = int(first.head[-1])
    sizes = ", ".join(size(term, axis) for term in equation.left)
    return f"y, z = Split({writer.term(first.args[0])}, i64([{sizes}]), axis={axis})"


def _typed(text: str, types: str, seen: set[str]) -> str:
    """A type behind each variable, where it stands first."""

    def add(found: re.Match[str]) -> str:
        name = found.group()
        if name in seen:
            return name
        seen.add(name)
        return name + types

    return re.sub(r"\b[a-d]\b", add, text)
