"""Matching of one rule's pattern in a term of another rule, and what it makes there.

Enters: a pattern and a term, whose variables stand for themselves.  Leaves: substitutions: for a
tensor of the pattern a term, for any other name of it a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tensat_dl.language.lint.sides import (
    Absent,
    Attribute,
    Bound,
    Constant,
    Default,
    Node,
    Rest,
    Term,
    Text,
    Variable,
)

_ATOM = re.compile(r"[\w.]+|\[[^\[\]]*\]")
_WORD = re.compile(r"(?<![\w.\"])[A-Za-z_][\w.]*")


@dataclass(frozen=True)
class Substitution:
    """What the names of a pattern stand for."""

    tensors: Mapping[str, Term] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def with_tensor(self, name: str, term: Term) -> Substitution | None:
        """Bind a tensor, or find it bound to the same."""
        known = self.tensors.get(name)
        if known is None:
            return Substitution({**self.tensors, name: term}, self.texts)
        return self if key(known) == key(term) else None

    def with_text(self, name: str, text: str) -> Substitution | None:
        """Bind an attribute, a dim or an element type, or find it bound to the same."""
        known = self.texts.get(name)
        if known is None:
            return Substitution(self.tensors, {**self.texts, name: text})
        return self if known == text else None

    def text(self, expr: str) -> str:
        """An expression with each name written as what it stands for."""
        if expr in self.texts:
            return self.texts[expr]
        return _WORD.sub(lambda word: self._word(word.group()), expr)

    def _word(self, word: str) -> str:
        tensor = self.tensors.get(word)
        if tensor is not None:
            return key(tensor)
        found = self.texts.get(word, word)
        return found if _ATOM.fullmatch(found) else f"({found})"


@dataclass
class Matcher:
    """Finds patterns in terms, until `effort` nodes were compared; then it finds no more.

    Commutative operators have many orders, so that a few large rules could take for ever.
    """

    effort: int = 50_000

    def matches(
        self, pattern: Term, term: Term, so_far: Substitution | None = None
    ) -> Iterator[Substitution]:
        """Every way in which the pattern is the term."""
        so_far = so_far or Substitution()
        self.effort -= 1
        if self.effort < 0:
            return
        match pattern, term:
            case Variable(name=name, optional=optional), _:
                if optional or not (isinstance(term, Absent) or _may_be_absent(term)):
                    yield from _some(so_far.with_tensor(name, term))
            case Absent(), Absent():
                yield so_far
            case Constant(), Constant():
                if pattern.value == term.value and pattern.dtype in ("", term.dtype):
                    yield so_far
            case Node(), Node() if pattern.operator == term.operator:
                yield from self._nodes(pattern, term, so_far)

    def _nodes(self, pattern: Node, term: Node, so_far: Substitution) -> Iterator[Substitution]:
        if len(pattern.inputs) != len(term.inputs):
            return
        found = _attributes(pattern, term, so_far)
        if found is None:
            return
        yield from self._inputs(pattern.inputs, term.inputs, found)
        if len(term.inputs) == 2 and term.operator.commutes(2):
            yield from self._inputs(pattern.inputs, term.inputs[::-1], found)

    def _inputs(
        self, patterns: Sequence[Term], terms: Sequence[Term], so_far: Substitution
    ) -> Iterator[Substitution]:
        if not patterns:
            yield so_far
            return
        for found in self.matches(patterns[0], terms[0], so_far):
            yield from self._inputs(patterns[1:], terms[1:], found)


def _attributes(pattern: Node, term: Node, so_far: Substitution) -> Substitution | None:
    found: Substitution | None = so_far
    for (name, wanted), (_, given) in zip(pattern.attributes, term.attributes, strict=True):
        if found is None:
            return None
        text = attribute_key(name, given)
        match wanted:
            case Bound(name=variable):
                found = found.with_text(variable, text)
            case Rest(name=variable):
                found = found.with_text(f"**{variable}.{name}", text)
            case Text(expr=expr):
                found = found if found.text(expr) == text else None
            case Default():
                found = found if isinstance(given, Default) else None
    return found


def _some(found: Substitution | None) -> Iterator[Substitution]:
    if found is not None:
        yield found


def _may_be_absent(term: Term) -> bool:
    return isinstance(term, Variable) and term.optional


def substituted(term: Term, found: Substitution) -> Term:
    """A right side with what its names stand for."""
    match term:
        case Variable(name=name):
            return found.tensors.get(name, term)
        case Constant(value=value, dtype=dtype):
            return Constant(found.text(value), found.text(dtype))
        case Node(operator=operator, attributes=attributes, inputs=inputs):
            values = tuple((name, _substituted(name, a, found)) for name, a in attributes)
            return Node(operator, values, tuple(substituted(i, found) for i in inputs))
    return term


def _substituted(name: str, attribute: Attribute, found: Substitution) -> Attribute:
    text = found.text(attribute_key(name, attribute))
    return Default() if text == attribute_key(name, Default()) else Text(text)


def attribute_key(name: str, attribute: Attribute) -> str:
    """One text for one value of an attribute."""
    match attribute:
        case Bound(name=variable):
            return variable
        case Rest(name=variable):
            return f"**{variable}.{name}"
        case Text(expr=expr):
            return expr
        case Default():
            return "default"


def key(term: Term) -> str:
    """One text for one term, the inputs of commutative operators in one order."""
    match term:
        case Variable(name=name):
            return name
        case Absent():
            return "absent"
        case Constant(value=value, dtype=dtype):
            return f"{dtype}({value})"
        case Node(operator=operator, attributes=attributes, inputs=inputs):
            keys = [key(child) for child in inputs]
            if operator.commutes(len(keys)):
                keys.sort()
            said = [
                f"{name}={attribute_key(name, a)}"
                for name, a in attributes
                if not isinstance(a, Default)
            ]
            return f"{operator.qualified_name}({', '.join(keys + said)})"


def replaced(term: Term, old: Node, new: Term) -> Iterator[Term]:
    """The term with one occurrence of a node replaced, for each occurrence."""
    if term is old:
        yield new
        return
    for position, child in enumerate(term.inputs if isinstance(term, Node) else ()):
        for found in replaced(child, old, new):
            assert isinstance(term, Node)
            inputs = (*term.inputs[:position], found, *term.inputs[position + 1 :])
            yield Node(term.operator, term.attributes, inputs)
