"""One way in which a rule acted, and what its left side made and read.

Enters: a rule, a match of its left side.  Leaves: the parts of a :class:`Step`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.matching import Binding
from tensat_dl.egraph.plan import RulePlan
from tensat_dl.egraph.snapshot import ENode
from tensat_dl.language.program import InputVariable, Rule


@dataclass(frozen=True)
class Join:
    """The tensor `left` of a match is equal to `right`; None: to a variable of the pattern,
    whatever makes that."""

    left: ENode
    right: ENode | None


@dataclass(frozen=True)
class Step:
    """One way in which a rule acted: the e-nodes of its left side and of its right side.

    `inner` are pairs of an e-node of the left side and another one whose tensor it reads.
    """

    rule: str
    reads: tuple[ENode, ...]
    inner: tuple[tuple[ENode, ENode], ...]
    makes: tuple[ENode, ...]
    joins: tuple[Join, ...]


def made_by(index: Index, rule: Rule, binding: Binding) -> dict[str, ENode]:
    """The tensors that a left side makes, by the names of its outputs."""
    return {
        name: index.tensor(binding.nodes[number], place)
        for number, match in enumerate(rule.matches)
        for place, name in enumerate(match.outputs)
        if place in binding.nodes[number].outputs
    }


def read_by(binding: Binding) -> tuple[ENode, ...]:
    """The e-nodes of a left side."""
    mapped = tuple(made.enode for run in binding.mapped.values() for made in run)
    return (*(made.enode for made in binding.nodes.values()), *mapped)


def inner_pairs(
    plan: RulePlan, binding: Binding, tensors: Mapping[str, ENode]
) -> Iterator[tuple[ENode, ENode]]:
    """The e-nodes of a left side with those, among what it makes, that they read."""
    for number, match in enumerate(plan.left.matches):
        reader = binding.nodes[number].enode
        names = (i.name for i in match.inputs if isinstance(i, InputVariable))
        yield from ((reader, tensors[name]) for name in names if name in tensors)
        yield from ((reader, made.enode) for made in binding.mapped.get(number, ()))
