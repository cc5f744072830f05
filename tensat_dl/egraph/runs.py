"""Rules that take runs of variadic inputs apart and build them: parts of lists, mapped lists.

Enters: a rule's plan.  Leaves: declarations and rules as text.

* A *part* of a list (what is left beside single tensors) gets its analyses and key.
* `*F(xs)` on the left: `(mapped_n_m segment length attributes others..)` is the list of operands
  of the first `length` elements, when each is an application of `F` with the same attributes
  and other inputs; built element by element (where a class has several such applications, one).
* `*F(xs)` on the right: `(built_n_b xs length attributes origin analyses others..)`, likewise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tensat_dl.egraph import naming
from tensat_dl.egraph.build import ABSENT, BuildMap
from tensat_dl.egraph.keys import mix_lets, operator_seed, output_key
from tensat_dl.egraph.plan import MatchPlan
from tensat_dl.egraph.query import part_term, run_position, shared_inputs
from tensat_dl.language import program

#: The ruleset of parts and mapped runs: saturated before questions are asked.
RUNS = "rs_runs"
#: The ruleset of built lists: saturated after answers came, before rules act.
FOLDS = "rs_folds"


DECLARATIONS = (
    "(function front (Tensors i64) Tensor :merge old)",
    "(function back (Tensors i64) Tensor :merge old)",
    "(function part (Tensors i64 i64) Tensors :merge old)",
    "(function vlength (Tensors) i64 :merge old)",
)


def run_rules(plan: MatchPlan, prefix: str) -> Iterator[str]:
    """Commands for all variadic matches of a left side."""
    for index, match in enumerate(plan.matches):
        if not match.operator.is_variadic:
            continue
        yield _elements_rule(match, index, prefix)
        run = run_position(match)
        if run is None:
            continue
        yield from _part_rule(match, index, prefix)
        item = match.inputs[run]
        if isinstance(item, program.InputMap):
            yield from _mapped_rules(match, item, index, prefix)


def _part(match: program.Match) -> tuple[int, int]:
    run = run_position(match) or 0
    return run, len(match.inputs) - run - 1


def _elements_rule(match: program.Match, index: int, prefix: str) -> str:
    """The single elements that a match names, and the length, as tables."""
    if run_position(match) is None:
        front, behind = len(match.inputs), 0
    else:
        front, behind = _part(match)
    return rule_text(
        [
            f"(= node ({naming.node_table(match.operator)} attrs vec))",
            f"(>= (vec-length vec) {front + behind})",
        ],
        [
            "(set (vlength vec) (vec-length vec))",
            *[f"(set (front vec {i}) (vec-get vec {i}))" for i in range(front)],
            *[
                f"(set (back vec {i}) (vec-get vec (- (vec-length vec) {i})))"
                for i in range(1, behind + 1)
            ],
        ],
        RUNS,
        f"elements:{prefix}:{index}",
    )


def _part_rule(match: program.Match, index: int, prefix: str) -> Iterator[str]:
    front, behind = _part(match)
    if not front and not behind:
        return
    key = mix_lets("kpart", operator_seed("part"), ["kvec", str(front), str(behind)])
    yield rule_text(
        [
            f"(= node ({naming.node_table(match.operator)} attrs vec))",
            f"(>= (vec-length vec) {front + behind})",
            "(= tvec (vtypes vec))",
            "(= kvec (vkey vec))",
        ],
        [
            f"(let rest {middle('vec', front, behind)})",
            f"(set (part vec {front} {behind}) rest)",
            "(set (vlength rest) (vec-length rest))",
            f"(set (vtypes rest) {middle('tvec', front, behind)})",
            *key,
            "(set (vkey rest) kpart)",
        ],
        RUNS,
        f"part:{prefix}:{index}",
    )


def middle(vector: str, front: int, behind: int) -> str:
    """The vector without its first and last elements, computed."""
    for _ in range(front):
        vector = f"(vec-remove {vector} 0)"
    for _ in range(behind):
        vector = f"(vec-pop {vector})"
    return vector


def _mapped_rules(
    match: program.Match, item: program.InputMap, index: int, prefix: str
) -> Iterator[str]:
    table, others = f"mapped_{prefix}_{index}", shared_inputs(item)
    sorts = " ".join(["Tensors", "i64", "i64", *["Tensor"] * len(others)])
    yield f"(function {table} ({sorts}) Tensors :merge old)"
    front, behind = _part(match)
    rest = "".join(f" {naming.variable(o)}" for o in others)
    arguments = " ".join(
        "operand" if isinstance(i, program.InputStar) else _fixed(i) for i in item.inputs
    )
    element = [f"(= element ({naming.node_table(item.operator)} attrs {arguments}))"]
    if item.operator.has_bundle:
        element = [
            f"(= bundle ({naming.node_table(item.operator)} attrs {arguments}))",
            "(= element (Out bundle 0))",
        ]
    known = ["(= toperand (type operand))", "(= koperand (key operand))"]
    segment = [
        f"(= node ({naming.node_table(match.operator)} nattrs vec))",
        f"(= segment {part_term('vec', front, behind)})",
    ]
    yield rule_text(
        [*segment, "(< 0 (vec-length segment))"],
        [
            "(set (vlength segment) (vec-length segment))",
            "(set (front segment 0) (vec-get segment 0))",
        ],
        RUNS,
        f"map-start:{prefix}:{index}",
    )
    first_key = mix_lets("klist", operator_seed("list"), ["koperand"])
    yield rule_text(
        [*segment, "(= element (front segment 0))", *element, *known],
        [
            "(let list (vec-of operand))",
            f"(set ({table} segment 1 attrs{rest}) list)",
            *_know_list("list", "(vec-of toperand)", first_key),
            *_next_element("segment", "1"),
        ],
        RUNS,
        f"map:{prefix}:{index}",
    )
    next_key = mix_lets("klist", operator_seed("list"), ["kdone", "koperand"])
    yield rule_text(
        [
            f"(= done ({table} segment place attrs{rest}))",
            "(= element (front segment place))",
            *element,
            *known,
            "(= tdone (vtypes done))",
            "(= kdone (vkey done))",
        ],
        [
            "(let list (vec-push done operand))",
            f"(set ({table} segment (+ place 1) attrs{rest}) list)",
            *_know_list("list", "(vec-push tdone toperand)", next_key),
            *_next_element("segment", "(+ place 1)"),
        ],
        RUNS,
        f"map-next:{prefix}:{index}",
    )


def _know_list(name: str, types: str, key: Sequence[str]) -> list[str]:
    return [
        f"(set (vtypes {name}) {types})",
        f"(set (vlength {name}) (vec-length {name}))",
        *key,
        f"(set (vkey {name}) klist)",
    ]


def _next_element(vector: str, place: str) -> list[str]:
    """Put an element into its table; beyond the end, the last one, which nothing reads."""
    last = f"(min {place} (- (vec-length {vector}) 1))"
    return [f"(set (front {vector} {last}) (vec-get {vector} {last}))"]


def _fixed(item: program.MatchInput) -> str:
    return naming.variable(item.name) if isinstance(item, program.InputVariable) else "(Absent)"


def built_table(prefix: str, build: BuildMap) -> str:
    """The table of lists built by one map."""
    return f"built_{prefix}_{build.name[1:]}"


def built_rules(build: BuildMap, prefix: str) -> Iterator[str]:
    """Declare the table of a map on the right side, and the rule that fills it."""
    table, operator = built_table(prefix, build), build.operator
    others = [r for i, r in enumerate(build.inputs) if i != build.position and r != ABSENT]
    sorts = ["Tensors", "i64", "i64", "i64", "Ids", *["Tensor"] * len(others)]
    yield f"(function {table} ({' '.join(sorts)}) Tensors :merge old)"
    rest = "".join(f" o{i}" for i in range(len(others)))
    names = iter(range(len(others)))
    arguments: list[str] = []
    keys: list[str] = ["attrs"]
    for place, ref in enumerate(build.inputs):
        if place == build.position:
            arguments.append("operand")
            keys.append("koperand")
        elif ref == ABSENT:
            arguments.append("(Absent)")
            keys.append("0")
        else:
            number = next(names)
            arguments.append(f"o{number}")
            keys.append(f"ko{number}")
    row = f"attrs {' '.join(arguments)}"
    made = [
        f"(set ({naming.made_table(operator)} {row}) origin)",
        *mix_lets("kelement", operator_seed(naming.operator_suffix(operator)), keys),
    ]
    node = f"({naming.node_table(operator)} {row})"
    if operator.has_bundle:
        make = [f"(let bundle {node})", "(set (bkey bundle) kelement)"]
        element = [
            "(let element (Out bundle 0))",
            f"(let kout {output_key('kelement', '0')})",
            "(set (key element) kout)",
        ]
    else:
        make, element = [], [f"(let element {node})", "(set (key element) kelement)"]
    yield rule_text(
        [
            f"(= done ({table} xs place attrs origin types{rest}))",
            "(= operand (front xs place))",
            "(= koperand (key operand))",
            *[f"(= ko{i} (key o{i}))" for i in range(len(others))],
            "(= tdone (vtypes done))",
            "(= kdone (vkey done))",
        ],
        [
            *made,
            *make,
            *element,
            "(set (type element) (vec-get types place))",
            "(let list (vec-push done element))",
            f"(set ({table} xs (+ place 1) attrs origin types{rest}) list)",
            *_know_list(
                "list",
                "(vec-push tdone (vec-get types place))",
                mix_lets("klist", operator_seed("list"), ["kdone", "kelement"]),
            ),
            *_next_element("xs", "(+ place 1)"),
        ],
        FOLDS,
        f"build:{prefix}{build.name}",
    )


def rule_text(body: Sequence[str], head: Sequence[str], ruleset: str, name: str) -> str:
    """One engine rule."""
    return f'(rule ({" ".join(body)}) ({" ".join(head)}) :ruleset {ruleset} :name "{name}")'
