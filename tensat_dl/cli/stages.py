"""The text of each stage, for `tensat-dl show`.

One function a stage, from a :class:`Subject` to pieces of text; what they print is written by
the stages themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tensat_dl.diagnostics import Diagnostics
from tensat_dl.errors import RuleFileError
from tensat_dl.progress import Progress, silent
from tensat_dl.resources import data_directory
from tensat_dl.settings import Settings

if TYPE_CHECKING:
    from tensat_dl.cost.models import CostModel
    from tensat_dl.cost.posing import Posed
    from tensat_dl.cost.settled import Settled
    from tensat_dl.cost.writable import Writable
    from tensat_dl.egraph.snapshot import ENode, Saturated
    from tensat_dl.graph.model import Graph
    from tensat_dl.language.program import CheckedProgram
    from tensat_dl.syntax import ast


@dataclass
class Subject:
    """Rules, a model (None where the stage needs none), settings; stages are made on demand.
    `progress` hears of what takes long: exploring, and timing operators."""

    rules: str
    model: Path | None
    settings: Settings
    progress: Progress = silent

    @cached_property
    def program(self) -> CheckedProgram:
        """The checked program.  Raises RuleFileError."""
        from tensat_dl.language.load import load_rules

        return load_rules(self.rules)

    @cached_property
    def graph(self) -> Graph:
        """The model as a graph."""
        from tensat_dl.egraph.adopt import DeclaredOperators
        from tensat_dl.graph.reading.read import read_model

        assert self.model is not None, "the command asks for a model where a stage needs one"
        return read_model(self.model, self.settings.model, DeclaredOperators(self.program))

    @cached_property
    def saturated(self) -> Saturated:
        """The explored e-graph."""
        from tensat_dl.egraph.explore import explore
        from tensat_dl.language.newer import within

        settings = self.settings
        usable = within(self.program, self.writable.opsets.get("", 0))
        return explore(self.graph, usable, settings.explore, settings.rules, self.progress)

    @cached_property
    def chosen(self) -> list[ENode]:
        """The e-nodes of the answer.  Raises InfeasibleError."""
        from tensat_dl.extract.limits import require_selection

        require_selection(self.settled.extraction)
        return list(self.settled.chosen.values())

    @cached_property
    def prices(self) -> CostModel:
        """The cost model."""
        from tensat_dl.cost.choice import choose_model
        from tensat_dl.cost.models import make_cost_model

        cost = self.settings.cost
        choice = choose_model(cost, self.program, self.graph)
        return make_cost_model(choice.model, cost, self.program, self.graph)

    @cached_property
    def writable(self) -> Writable:
        """What can be written to the model."""
        from tensat_dl.cost.writable import Writable
        from tensat_dl.graph.opsets import allowed_opsets

        newest, domains = self.settings.model.opset, self.program.domains
        opsets, _ = allowed_opsets(self.graph, newest, domains)
        return Writable(self.program, opsets)

    @cached_property
    def posed(self) -> Posed:
        """The extraction problem; of measured costs, when all that matters has its price."""
        from tensat_dl.cost.counts import with_counts
        from tensat_dl.cost.measured.model import MeasuredModel
        from tensat_dl.cost.posing import pose
        from tensat_dl.cost.virtual import make_lower

        if isinstance(self.prices, MeasuredModel):
            return self.settled.posed
        posed = pose(self.saturated, self.prices, self.writable)
        lower = make_lower(self.program)
        return with_counts(posed, self.saturated, self.settings.extract, lower)

    @cached_property
    def settled(self) -> Settled:
        """The extraction problem when all that matters has its price, and the answer."""
        from tensat_dl.cost.settle import settle
        from tensat_dl.phases import Phases

        extract, phases = self.settings.extract, Phases(self.progress)
        return settle(self.graph, self.saturated, self.prices, self.writable, extract, phases)


def _ast(subject: Subject) -> Iterator[str]:
    from tensat_dl.language.load import split_names
    from tensat_dl.syntax.printer import format_module

    for name in split_names(subject.rules):
        yield format_module(_module(name)).rstrip("\n")


def _module(name: str) -> ast.Module:
    from tensat_dl.language.load import shipped_names
    from tensat_dl.syntax.parse import parse, read_source

    shipped = not Path(name).is_file() and name in shipped_names()
    path = data_directory("rulesets") / f"{name}.tsat" if shipped else Path(name)
    diagnostics = Diagnostics()
    source = read_source(path, diagnostics)
    module = None if source is None else parse(source, diagnostics)
    if module is None:
        raise RuleFileError(tuple(diagnostics))
    return module


def _checked(subject: Subject) -> Iterator[str]:
    from tensat_dl.language.print_program import print_program

    yield print_program(subject.program).rstrip("\n")


def _egglog(subject: Subject) -> Iterator[str]:
    from tensat_dl.egraph.encode import encode, program_text
    from tensat_dl.egraph.explore import chosen_rules

    operators = [] if subject.model is None else [node.operator for node in subject.graph.nodes]
    rules = chosen_rules(subject.program, subject.settings.rules)
    policy = subject.settings.explore.cycles
    yield program_text(encode(subject.program, rules, operators, policy)).rstrip("\n")


def _facts(subject: Subject) -> Iterator[str]:
    from tensat_dl.egraph.interning import Interner
    from tensat_dl.egraph.loading import facts_text, load_facts

    yield facts_text(load_facts(subject.graph, Interner())).rstrip("\n")


def _egraph(subject: Subject) -> Iterator[str]:
    by_class: dict[int, list[ENode]] = {}
    for node in subject.saturated.nodes:
        by_class.setdefault(node.eclass, []).append(node)
    for eclass, nodes in sorted(by_class.items()):
        marks = " (depends on weights alone)" if subject.saturated.weight[eclass] else ""
        yield f"class {eclass}: {_type(subject.saturated, nodes[0])}{marks}"
        yield from (f"  {_node(node)}" for node in nodes)


def _model(subject: Subject) -> Iterator[str]:
    from tensat_dl.extract.text import model_text

    yield from model_text(subject.posed.problem, subject.settings.extract)


def _selection(subject: Subject) -> Iterator[str]:
    from tensat_dl.cost.bill import pieces_of
    from tensat_dl.extract.limits import require_selection

    settled = subject.settled
    posed, extraction = settled.posed, settled.extraction
    selection = require_selection(extraction)
    yield f"cost {settled.cost:g}, {extraction.status.value}"
    for index in selection.chosen():
        node = posed.nodes[index]
        piece = pieces_of(settled, {node.eclass: index}, subject.prices)[node.eclass]
        yield f"class {node.eclass}: {_node(node)}, cost {piece.cost:g}"


def _type(saturated: Saturated, node: ENode) -> str:
    """The type of a class, with its value where that is known."""
    from tensat_dl.egraph.snapshot import Application
    from tensat_dl.vocabulary.types import TensorType, type_text

    if isinstance(node.head, Application) and node.head.operator.has_bundle:
        return "bundle"
    type_ = saturated.class_types[node.eclass]
    value = type_.value if isinstance(type_, TensorType) else None
    return type_text(type_) + ("" if value is None else f" = [{', '.join(map(str, value))}]")


def _node(node: ENode) -> str:
    from tensat_dl.egraph.snapshot import Application, Leaf, LeafKind, Projection
    from tensat_dl.vocabulary.signature import value_text

    children = ", ".join(map(str, node.children))
    made_by = f"   by {node.rule}, generation {node.generation}" if node.rule else ""
    match node.head:
        case Leaf(LeafKind.CONSTANT, name):
            return f"constant {name[:12]}"
        case Leaf(kind, name):
            return f"{kind.value} {name}".rstrip()
        case Projection(index):
            return f"output {index} of {children}{made_by}"
        case Application(operator, attributes):
            written = "".join(f", {name}={value_text(value)}" for name, value in attributes.items)
            return f"{operator.qualified_name}({children}{written}){made_by}"


StageText = Callable[[Subject], Iterable[str]]

STAGE_TEXT: Mapping[str, StageText] = {
    "ast": _ast,
    "checked": _checked,
    "egglog": _egglog,
    "facts": _facts,
    "egraph": _egraph,
    "model": _model,
    "selection": _selection,
}
