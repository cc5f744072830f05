"""The explored e-graph, copied out of the engine: rows of classes and e-nodes.

Plain data that pickles: it crosses a process border and may be written to disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import cached_property

from tensat_dl.graph.model import Constant
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import Type


class LeafKind(Enum):
    """E-nodes that are not operator applications."""

    INPUT = "input"
    CONSTANT = "constant"
    ABSENT = "absent"


@dataclass(frozen=True)
class Leaf:
    """A graph input (`name`) or a constant (`name` is its digest)."""

    kind: LeafKind
    name: str = ""


@dataclass(frozen=True)
class Projection:
    """`Out(bundle, index)`; its one child is the bundle's class."""

    index: int


@dataclass(frozen=True)
class Application:
    """An operator application.  `outputs` is the number of outputs of a bundle (1 otherwise)."""

    operator: Operator
    attributes: Attributes
    outputs: int


@dataclass(frozen=True)
class ENode:
    """One row.  `children` are class ids in argument order (absent inputs are the class of the
    ABSENT leaf).  `rule` is the name of the rule that made it, "" for the original graph, whose
    rows have `original` set and `generation` 0."""

    head: Leaf | Projection | Application
    children: tuple[int, ...]
    eclass: int
    original: bool
    rule: str = ""
    generation: int = 0


@dataclass(frozen=True)
class RuleCount:
    """How often a rule matched, and on how many matches it acted; the `seconds` of matching,
    answering and acting."""

    matches: int
    applied: int
    rejected: int = 0
    seconds: float = 0.0

    def __add__(self, other: RuleCount) -> RuleCount:
        """Of two explorations."""
        return RuleCount(
            self.matches + other.matches,
            self.applied + other.applied,
            self.rejected + other.rejected,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True)
class StepRecord:
    """The e-graph after a step: operator applications, and classes of tensors; `seconds` is what
    the step took."""

    enodes: int
    eclasses: int
    seconds: float


class StopReason(StrEnum):
    """What ended an exploration: nothing was left to do, the schedule ended, a limit, a crash.

    `UNFINISHED` is that of a copy taken on the way.
    """

    SATURATED = "saturated"
    SCHEDULE = "schedule"
    ENODES = "enodes"
    SECONDS = "seconds"
    MEMORY = "memory"
    CRASHED = "crashed"
    UNFINISHED = "unfinished"


@dataclass(frozen=True)
class Exploration:
    """What happened; `blamed` names the rule behind a limit reached within one step, or ""; `trace`
    has each step; `traceback` says where a crash was."""

    enodes: int
    eclasses: int
    steps: int
    seconds: float
    stopped_by: StopReason
    blamed: str
    rules: Mapping[str, RuleCount]
    trace: tuple[StepRecord, ...] = ()
    warnings: tuple[str, ...] = ()
    traceback: str = ""


@dataclass(frozen=True)
class Saturated:
    """The snapshot.  Classes are 0..len(class_types)-1; bundles have classes too, of the type
    UNDECLARED.  `weight[c]`: depends on constants alone.

    `value_class` maps every value name of the original graph to its class; `outputs` are the
    classes of the graph outputs, in order.
    """

    nodes: tuple[ENode, ...]
    class_types: tuple[Type, ...]
    weight: tuple[bool, ...]
    constants: Mapping[str, Constant]
    value_class: Mapping[str, int]
    outputs: tuple[int, ...]
    exploration: Exploration

    @cached_property
    def absent_class(self) -> int:
        """The class of the missing input, -1 where nothing misses one."""
        absent = Leaf(LeafKind.ABSENT)
        return next((node.eclass for node in self.nodes if node.head == absent), -1)


def bundle_outputs(nodes: Iterable[ENode]) -> dict[int, dict[int, int]]:
    """For each bundle that some of `nodes` project: place of the output -> its class."""
    found: dict[int, dict[int, int]] = {}
    for node in nodes:
        if isinstance(node.head, Projection):
            found.setdefault(node.children[0], {})[node.head.index] = node.eclass
    return found


def children_first(chosen: Mapping[int, ENode], roots: Iterable[int]) -> Iterator[ENode]:
    """The chosen e-nodes (by class) that the classes `roots` reach, each after its children."""
    done: set[int] = set()
    for root in roots:
        stack = [(root, False)]
        while stack:
            eclass, has_children = stack.pop()
            if eclass in done or eclass not in chosen:
                continue
            if has_children:
                done.add(eclass)
                yield chosen[eclass]
                continue
            stack.append((eclass, True))
            stack += [(c, False) for c in reversed(chosen[eclass].children) if c not in done]
