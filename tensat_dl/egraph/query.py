"""A left side as the body of an engine rule.

Enters: a :class:`~tensat_dl.egraph.plan.MatchPlan`.  Leaves: atoms as text, and the names of the
variables that hold each column.

Tables: `(op_X attributes input..)` gives a tensor or a bundle; operators with variadic inputs
take one vector, the others are looked at beside the analyses of their inputs (see `egraph.typed`);
`(Out bundle i)` is a tensor; `(type tensor)` and `(vtypes vector)` give analysis ids, `(vnumber
vector)` the number of the latter (see `egraph.numbering`); `(key tensor)`, `(vkey vector)` stable
keys; `(made_X ..)` the origin of an e-node.

The engine joins tables first and computes afterwards, so nothing computed may stand in a table's
column: it would be a cross product.  Elements, lengths and parts of vectors are therefore tables
too (`front`, `back`, `operands`, `vlength`, `part`), filled by the rules of `egraph.runs`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from tensat_dl.egraph import naming
from tensat_dl.egraph.plan import Column, ColumnKind, MatchPlan, reads
from tensat_dl.language import program

#: Bits of the rule number in an origin; the generation stands above them.
RULE_BITS = 20


@dataclass
class Query:
    """Atoms so far, and the variables that hold the origins of matched e-nodes."""

    atoms: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)

    def add(self, atom: str) -> None:
        """Append an atom."""
        self.atoms.append(atom)

    @property
    def text(self) -> str:
        """The body."""
        return " ".join(self.atoms)


def column_variable(column: Column) -> str:
    """The engine's variable that holds a column."""
    if column.kind is ColumnKind.ATTRIBUTES:
        return f"am{column.index}" if column.mapped else f"a{column.index}"
    if column.kind is ColumnKind.INT:
        return naming.variable(column.name)
    if column.kind is ColumnKind.ANALYSES:
        return naming.list_variable(column.name)
    return naming.analysis_variable(column.name)


def write_query(
    plan: MatchPlan,
    *,
    prefix: str,
    origins: bool,
    rounds: int = 0,
    keys: bool = False,
    standing: Container[int] = (),
) -> Query:
    """The atoms of a left side.

    `prefix` names the tables of this rule's mapped lists; with `origins` the origin of
    every matched e-node is bound to `m0`, `m1`, ...; with `rounds` every matched e-node is of an
    earlier generation than that; with `keys` the keys of all variables are bound.  Operands that
    may be swapped match in both orders, but for the matches whose numbers are in `standing`.
    """
    query = Query()
    for index, match in enumerate(plan.matches):
        order = f"s{index}" if swappable(match) and index not in standing else "0"
        arguments = _arguments(query, match, index, order, prefix)
        rest = _input_types(plan, match, index)
        rest += f" {order}" if naming.has_orders(match.operator) else ""
        _application(query, match, index, arguments, rest)
        made = naming.made_table(match.operator)
        table = naming.young_table(match.operator, rounds) if rounds else made
        if origins or rounds:
            query.add(f"(= m{index} ({table} a{index}{arguments}))")
            query.origins.append(f"m{index}")
    typed = {
        name for match in plan.matches if naming.has_types(match.operator) for name in reads(match)
    }
    for name in plan.asked:
        if name not in typed:
            query.add(f"(= {naming.analysis_variable(name)} (type {naming.variable(name)}))")
    for name in plan.lists:
        query.add(f"(= {naming.list_variable(name)} (vnumber {naming.variable(name)}))")
    if keys:
        add_keys(query, plan, (*plan.tensors, *plan.lists))
    return query


def add_keys(query: Query, plan: MatchPlan, names: tuple[str, ...]) -> None:
    """Bind the keys of some variables."""
    for name in names:
        table = "vkey" if name in plan.lists else "key"
        query.add(f"(= {naming.key_variable(name)} ({table} {naming.variable(name)}))")


def add_types(query: Query, plan: MatchPlan) -> None:
    """Bind the analyses of the elements of lists."""
    for name in plan.lists:
        query.add(f"(= {naming.analysis_variable(name)} (vtypes {naming.variable(name)}))")


def add_relations(query: Query, facts: Iterable[program.Fact]) -> None:
    """Require rows of user relations; weights are Python's to check."""
    for fact in facts:
        if not fact.is_weight:
            arguments = " ".join(naming.variable(a) for a in fact.arguments)
            query.add(f"({naming.relation_table(fact.relation)} {arguments})")


def _application(query: Query, match: program.Match, index: int, arguments: str, rest: str) -> None:
    operator = match.operator
    result = f"b{index}" if operator.has_bundle else naming.variable(match.outputs[0])
    if naming.has_types(operator):
        query.add(f"({naming.typed_table(operator)} a{index}{arguments} {result}{rest})")
    else:
        query.add(f"(= {result} ({naming.node_table(operator)} a{index}{arguments}))")
    if not operator.has_bundle:
        return
    for place, output in enumerate(match.outputs):
        query.add(f"(= {naming.variable(output)} (Out b{index} {place}))")


def swappable(match: program.Match) -> bool:
    """Its two operands may change places, and then it is another match.  A list has no other order:
    it is matched as it stands."""
    inputs = match.inputs
    two = len(inputs) == 2 and run_position(match) is None
    return match.operator.commutative and two and inputs[0] != inputs[1]


def _arguments(query: Query, match: program.Match, index: int, order: str, prefix: str) -> str:
    if match.operator.is_variadic:
        vector = f"vec{index}"
        if swappable(match):
            query.add(f"(operands {vector} {' '.join(map(input_term, match.inputs))} {order})")
        else:
            _vector(query, match, index, vector, prefix)
        return f" {vector}"
    return "".join(" " + input_term(i) for i in match.inputs)


def _input_types(plan: MatchPlan, match: program.Match, index: int) -> str:
    """The variables of what is known of the inputs; others where the rule does not ask."""
    return "".join(
        f" {naming.analysis_variable(item.name)}"
        if isinstance(item, program.InputVariable) and item.name in plan.asked
        else f" u{index}_{place}"
        for place, item in enumerate(match.inputs)
    )


def input_term(item: program.MatchInput) -> str:
    """The variable of an input that is one tensor, or what a missing one is."""
    match item:
        case program.InputAbsent():
            return "(Absent)"
        case program.InputVariable(name):
            return naming.variable(name)
        case _:
            raise TypeError(f"{item} stands in no fixed input; the checker holds this")


def _vector(query: Query, match: program.Match, index: int, vector: str, prefix: str) -> None:
    """Take a vector apart: single tensors in front, at most one run, single tensors behind."""
    run = run_position(match)
    if run is None:
        query.add(f"(= {len(match.inputs)} (vlength {vector}))")
        _singles(query, vector, match.inputs)
        return
    front, behind = match.inputs[:run], match.inputs[run + 1 :]
    _singles(query, vector, front)
    for back, item in enumerate(reversed(behind), start=1):
        query.add(f"(= {input_term(item)} (back {vector} {back}))")
    segment = part_term(vector, len(front), len(behind))
    item = match.inputs[run]
    if isinstance(item, program.InputStar):
        query.add(f"(= {naming.variable(item.name)} {segment})")
    elif isinstance(item, program.InputMap):
        query.add(f"(= seg{index} {segment})")
        query.add(f"(= len{index} (vlength seg{index}))")
        query.add(mapped_atom(item, index, prefix))


def part_term(vector: str, front: int, behind: int) -> str:
    """The vector without its first and last elements, as a table's entry."""
    return f"(part {vector} {front} {behind})" if front or behind else vector


def run_position(match: program.Match) -> int | None:
    """Where the one run of a variadic match stands among its inputs."""
    runs = [
        i
        for i, item in enumerate(match.inputs)
        if isinstance(item, program.InputStar | program.InputMap)
    ]
    if len(runs) > 1:
        raise TypeError("two runs in one list are ambiguous; the checker holds this")
    return runs[0] if runs else None


def _singles(query: Query, vector: str, inputs: tuple[program.MatchInput, ...]) -> None:
    for place, item in enumerate(inputs):
        query.add(f"(= {input_term(item)} (front {vector} {place}))")


def mapped_atom(item: program.InputMap, index: int, prefix: str) -> str:
    """The operands of a whole mapped run: see `egraph.runs`."""
    name = next(i.name for i in item.inputs if isinstance(i, program.InputStar))
    others = "".join(f" {naming.variable(name)}" for name in shared_inputs(item))
    table = f"mapped_{prefix}_{index}"
    return f"(= {naming.variable(name)} ({table} seg{index} len{index} am{index}{others}))"


def shared_inputs(item: program.InputMap) -> tuple[str, ...]:
    """The variables that are the same for every element of a mapped run."""
    return tuple(i.name for i in item.inputs if isinstance(i, program.InputVariable))
