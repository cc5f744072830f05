"""Rows: matches of a left side that the exploration would accept.

Enters: types, lists, names and attributes of a match.  Leaves: a :class:`Row`, or None where the
answerer of the exploration says no, so that "the rule may act" means here what it means there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from tensat_dl.egraph.interning import ABSENT_ANALYSIS, Analysis
from tensat_dl.egraph.left import AttributeRows
from tensat_dl.egraph.plan import ColumnKind, RulePlan
from tensat_dl.egraph.question import Row as Columns
from tensat_dl.egraph.typing import Scope
from tensat_dl.language import program
from tensat_dl.language.values import Value
from tensat_dl.soundness.subject import Subject
from tensat_dl.vocabulary.types import AbsentType, Type


@dataclass(frozen=True)
class Row:
    """One match of the left side.  `spans`: the range of the contents of index tensors."""

    scope: Scope
    attributes: AttributeRows
    spans: Mapping[str, tuple[int, int]]

    def key(self) -> Hashable:
        """Equal where all types, lists and attributes are."""
        return (
            frozenset((name, found.type) for name, found in self.scope.tensors.items()),
            frozenset(
                (name, tuple(element.type for element in found))
                for name, found in self.scope.lists.items()
            ),
            frozenset(self.attributes.items()),
        )


def tensors_read(match: program.Match) -> set[str]:
    """The tensor variables that a match reads, lists aside."""
    names: set[str] = set()
    for item in match.inputs:
        inner = item.inputs if isinstance(item, program.InputMap) else (item,)
        names |= {i.name for i in inner if isinstance(i, program.InputVariable)}
    return names


def open_names(plan: RulePlan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the tensors and of the lists that no match makes."""
    made = {name for match in plan.left.matches for name in match.outputs}
    return tuple(name for name in plan.left.tensors if name not in made), plan.left.lists


def accepted(
    subject: Subject,
    plan: RulePlan,
    types: Mapping[str, Type],
    lists: Mapping[str, tuple[Type, ...]],
    names: Mapping[str, Value],
    attributes: AttributeRows,
) -> Scope | None:
    """What the answerer of the exploration says."""
    interner = subject.answerer.interner
    row: list[object] = []
    for column in plan.left.columns:
        match column.kind:
            case ColumnKind.ATTRIBUTES:
                row.append(interner.attributes_id(*attributes[column.index, column.mapped]))
            case ColumnKind.ANALYSIS:
                row.append(interner.analysis_id(analysed(types[column.name])))
            case ColumnKind.ANALYSES:
                ids = tuple(interner.analysis_id(analysed(t)) for t in lists[column.name])
                row.append(interner.list_id(ids))
            case ColumnKind.INT:
                row.append(names.get(column.name, 0))
    columns: Columns = tuple(row)
    return subject.answerer.scope(plan.left, columns, plan.rule)


def changed(
    subject: Subject, plan: RulePlan, row: Row, change: Callable[[str, Type], Type]
) -> Row | None:
    """The row with other types of its open tensors and lists, where it is one still."""
    tensors, listed = open_names(plan)
    types = {name: analysis.type for name, analysis in row.scope.tensors.items()}
    types |= {name: change(name, types[name]) for name in tensors}
    lists = {
        name: tuple(change(f"{name} {i}", a.type) for i, a in enumerate(row.scope.lists[name]))
        for name in listed
    }
    scope = accepted(subject, plan, types, lists, row.scope.env.names, row.attributes)
    return None if scope is None else Row(scope, row.attributes, row.spans)


def analysed(type_: Type) -> Analysis:
    """Every tensor may be taken for a weight: that changes no value."""
    return ABSENT_ANALYSIS if isinstance(type_, AbsentType) else Analysis(type_, True)
