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
from tensat_dl.egraph.query import part_term, run_position, shared_inputs, swappable
from tensat_dl.language import program

#: The ruleset of parts and mapped runs: saturated before questions are asked.
RUNS = "rs_runs"
#: The ruleset of built lists: saturated after answers came, before rules act.
FOLDS = "rs_folds"


DECLARATIONS = (
    "(function front (Tensors i64) Tensor :merge old)",
    "(function back (Tensors i64) Tensor :merge old)",
    "(relation operands (Tensors Tensor Tensor i64))",
    "(function part (Tensors i64 i64) Tensors :merge old)",
    "(function vlength (Tensors) i64 :merge old)",
)


def run_rules(plan: MatchPlan, prefix: str) -> Iterator[str]:
    """Commands for all variadic matches of a left side."""
    for index, match in enumerate(plan.matches):
        if not match.operator.is_variadic:
            continue
        yield _elements_rule(match, index, prefix)
        if swappable(match):
            yield _operands_rule(match, index, prefix)
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


def _operands_rule(match: program.Match, index: int, prefix: str) -> str:
    """Both orders of two operands; 0 as they stand."""
    first, second = "(vec-get vec 0)", "(vec-get vec 1)"
    return rule_text(
        [f"(= node ({naming.node_table(match.operator)} attrs vec))", "(= 2 (vec-length vec))"],
        [f"(operands vec {first} {second} 0)", f"(operands vec {second} {first} 1)"],
        RUNS,
        f"operands:{prefix}:{index}",
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
    rest = "".join(f" {naming.variable(o)}" for o in others)
    segment = [
        f"(= node ({naming.node_table(match.operator)} nattrs vec))",
        f"(= segment {part_term('vec', *_part(match))})",
    ]
    element = [*_element(item), "(= toperand (type operand))", "(= koperand (key operand))"]
    row, label = f"{table} segment", f"{prefix}:{index}"
    yield _started(segment, f"map-start:{label}")
    first = [*segment, "(= element (front segment 0))", *element]
    yield _first_mapped(first, row, rest, f"map:{label}")
    yield _next_mapped(element, row, rest, f"map-next:{label}")


def _started(segment: Sequence[str], label: str) -> str:
    """Looks at the first element of a run."""
    actions = (
        "(set (vlength segment) (vec-length segment))",
        "(set (front segment 0) (vec-get segment 0))",
    )
    return rule_text([*segment, "(< 0 (vec-length segment))"], actions, RUNS, label)


def _first_mapped(atoms: Sequence[str], row: str, rest: str, label: str) -> str:
    """Begins the list with the operand of the first element."""
    actions = [
        "(let list (vec-of operand))",
        f"(set ({row} 1 attrs{rest}) list)",
        *_know_list("(vec-of toperand)", ["koperand"]),
        *_next_element("segment", "1"),
    ]
    return rule_text(atoms, actions, RUNS, label)


def _next_mapped(element: Sequence[str], row: str, rest: str, label: str) -> str:
    """Adds the operand of the next element to the list."""
    atoms = [
        f"(= done ({row} place attrs{rest}))",
        "(= element (front segment place))",
        *element,
        *_DONE,
    ]
    actions = [
        "(let list (vec-push done operand))",
        f"(set ({row} (+ place 1) attrs{rest}) list)",
        *_know_list("(vec-push tdone toperand)", ["kdone", "koperand"]),
        *_next_element("segment", "(+ place 1)"),
    ]
    return rule_text(atoms, actions, RUNS, label)


def _element(item: program.InputMap) -> list[str]:
    """Atoms: `element` is the mapped operator applied to `operand`."""
    arguments = " ".join(
        "operand" if isinstance(i, program.InputStar) else _fixed(i) for i in item.inputs
    )
    node = f"({naming.node_table(item.operator)} attrs {arguments})"
    if not item.operator.has_bundle:
        return [f"(= element {node})"]
    return [f"(= bundle {node})", "(= element (Out bundle 0))"]


#: Atoms: what is known of the list so far.
_DONE = ("(= tdone (vtypes done))", "(= kdone (vkey done))")


def _know_list(types: str, keys: Sequence[str]) -> list[str]:
    """Actions: say what is known of `list`."""
    return [
        f"(set (vtypes list) {types})",
        "(set (vlength list) (vec-length list))",
        *mix_lets("klist", operator_seed("list"), keys),
        "(set (vkey list) klist)",
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
    table = built_table(prefix, build)
    others = [r for i, r in enumerate(build.inputs) if i != build.position and r != ABSENT]
    sorts = ["Tensors", "i64", "i64", "i64", "Ids", *["Tensor"] * len(others)]
    yield f"(function {table} ({' '.join(sorts)}) Tensors :merge old)"
    rest = "".join(f" o{i}" for i in range(len(others)))
    yield rule_text(
        [
            f"(= done ({table} xs place attrs origin types{rest}))",
            "(= operand (front xs place))",
            "(= koperand (key operand))",
            *[f"(= ko{i} (key o{i}))" for i in range(len(others))],
            *_DONE,
        ],
        [
            *_made_element(build),
            "(set (type element) (vec-get types place))",
            "(let list (vec-push done element))",
            f"(set ({table} xs (+ place 1) attrs origin types{rest}) list)",
            *_know_list("(vec-push tdone (vec-get types place))", ["kdone", "kelement"]),
            *_next_element("xs", "(+ place 1)"),
        ],
        FOLDS,
        f"build:{prefix}{build.name}",
    )


def _made_element(build: BuildMap) -> list[str]:
    """Actions: make `element`, the operator applied to `operand` and the others `o0`, `o1`, .."""
    operator, names = build.operator, _argument_names(build)
    row = " ".join(["attrs", *[name or "(Absent)" for name in names]])
    keys = ["attrs", *[f"k{name}" if name else "0" for name in names]]
    node = f"({naming.node_table(operator)} {row})"
    made = [
        f"(set ({naming.made_table(operator)} {row}) origin)",
        *mix_lets("kelement", operator_seed(naming.operator_suffix(operator)), keys),
    ]
    if not operator.has_bundle:
        return [*made, f"(let element {node})", "(set (key element) kelement)"]
    return [
        *made,
        f"(let bundle {node})",
        "(set (bkey bundle) kelement)",
        "(let element (Out bundle 0))",
        f"(let kout {output_key('kelement', '0')})",
        "(set (key element) kout)",
    ]


def _argument_names(build: BuildMap) -> list[str]:
    """The engine's variable for each input of a map, "" for a missing one."""
    others = (f"o{i}" for i in range(len(build.inputs)))
    return [
        "operand" if place == build.position else next(others) if ref != ABSENT else ""
        for place, ref in enumerate(build.inputs)
    ]


def rule_text(body: Sequence[str], head: Sequence[str], ruleset: str, name: str) -> str:
    """One engine rule."""
    return f'(rule ({" ".join(body)}) ({" ".join(head)}) :ruleset {ruleset} :name "{name}")'
